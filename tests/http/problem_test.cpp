// Every refusal of the engine and every ending of the store as status and code.
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <holdfast/ports/method.hpp>

#include "http/problem.hpp"

namespace holdfast::http {

TEST_CASE("problems: every refusal has its status and a code that is its name") {
  using engine::EngineError;
  using ports::VerifyError;
  struct Row {
    boost::system::error_code error;
    unsigned status;
    const char* code;
    bool again;
  };
  const std::vector<Row> table = {
      {EngineError::unknown_chain, 400, "unknown_chain", false},
      {EngineError::unknown_method, 400, "unknown_method", false},
      {EngineError::bad_terms, 400, "bad_terms", false},
      {EngineError::bad_validity, 400, "bad_validity", false},
      {EngineError::not_found, 404, "not_found", false},
      {EngineError::key_reused, 422, "key_reused", false},
      {EngineError::bad_authorization, 422, "bad_authorization", false},
      {EngineError::already_authorized, 409, "already_authorized", false},
      {EngineError::redemption_taken, 409, "redemption_taken", false},
      {EngineError::too_late, 409, "too_late", false},
      {EngineError::draining, 503, "draining", true},
      {EngineError::try_again, 503, "try_again", true},
      {EngineError::name_taken, 409, "name_taken", false},
      {EngineError::wrong_state, 409, "wrong_state", false},
      {EngineError::unproven, 409, "unproven", false},
      {VerifyError::bad_terms, 400, "bad_terms", false},
      {VerifyError::bad_signature, 400, "bad_signature", false},
      {VerifyError::wrong_signer, 422, "wrong_signer", false},
      {VerifyError::wrong_nonce, 422, "wrong_nonce", false},
      {VerifyError::not_yet_valid, 422, "not_yet_valid", false},
      {VerifyError::expired, 422, "expired", false},
      {VerifyError::already_used, 422, "already_used", false},
      {VerifyError::canceled, 422, "canceled", false},
      {VerifyError::insufficient_funds, 422, "insufficient_funds", false},
      {VerifyError::simulation_failed, 422, "simulation_failed", false},
      {VerifyError::node_trouble, 503, "node_trouble", true},
      {VerifyError::not_a_contract, 422, "not_a_contract", false},
      {VerifyError::not_supported, 422, "not_supported", false},
      {VerifyError::name_mismatch, 422, "name_mismatch", false},
      {VerifyError::version_mismatch, 422, "version_mismatch", false},
      {VerifyError::allowance_missing, 422, "allowance_missing", false},
      {VerifyError::spender_mismatch, 422, "spender_mismatch", false},
      {VerifyError::factory_not_allowed, 422, "factory_not_allowed", false},
      {VerifyError::deployment_failed, 422, "deployment_failed", false},
  };
  for (const Row& row : table) {
    CAPTURE(row.code);
    const Problem problem = problem_of(Error{row.error, "a sentence"});
    CHECK(problem.status == row.status);
    CHECK(problem.code == row.code);
    CHECK(problem.detail == "a sentence");
    CHECK((problem.retry_after_s > 0) == row.again);
  }
}

TEST_CASE("problems: an error nobody expected is a 500 that says nothing of it") {
  const Error error{boost::system::errc::make_error_code(boost::system::errc::io_error),
                    "SELECT secret FROM table"};
  const Problem problem = problem_of(error);
  CHECK(problem.status == 500);
  CHECK(problem.detail.find("SELECT") == std::string::npos);
}

TEST_CASE("problems: the store's endings are told apart, and nothing of them is shown") {
  const auto broken = [](auto exception) {
    return problem_of(std::make_exception_ptr(std::move(exception)));
  };
  const std::string inner = "disk I/O error on /var/lib/x";
  const Broken unavailable = broken(store::StoreUnavailable(sql::Cause::io, inner));
  CHECK(unavailable.problem.status == 503);
  CHECK(unavailable.problem.code == "store_unavailable");
  const Broken in_doubt = broken(store::StoreInDoubt(inner));
  CHECK(in_doubt.problem.status == 503);
  CHECK(in_doubt.problem.code == "outcome_unknown");
  CHECK(in_doubt.problem.detail.find("retry with the same Idempotency-Key") != std::string::npos);
  const Broken busy = broken(store::StoreBusy(inner));
  CHECK(busy.problem.status == 429);
  const Broken bug = broken(std::logic_error(inner));
  CHECK(bug.problem.status == 500);
  CHECK_FALSE(bug.known);
  for (const Broken& each : {unavailable, in_doubt, busy, bug}) {
    CHECK(each.problem.detail.find("disk") == std::string::npos);
    CHECK(each.what == inner);
    if (each.known) CHECK(each.problem.retry_after_s > 0);
  }
}

TEST_CASE("problems: an answer is code and sentence, with Retry-After and WWW-Authenticate") {
  const Response busy = response_of({429, "busy", "say \"again\"", 1});
  CHECK(busy.status == 429);
  CHECK(busy.body == R"({"error":"busy","detail":"say \"again\""})");
  REQUIRE(busy.headers.size() == 1);
  CHECK(busy.headers[0].name == "Retry-After");
  CHECK(busy.headers[0].value == "1");
  const Response unknown = response_of({401, "unauthorized", "x"});
  REQUIRE(unknown.headers.size() == 1);
  CHECK(unknown.headers[0].name == "WWW-Authenticate");
}

TEST_CASE("problems: a client's own text is shown short and harmless") {
  CHECK(shown("abc") == "'abc'");
  CHECK(shown("a\r\nb\x1b") == "'a??b?'");
  CHECK(shown(std::string(500, 'x')) == "'" + std::string(64, 'x') + "…'");
}

}  // namespace holdfast::http
