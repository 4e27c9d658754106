#include "http/problem.hpp"

#include <holdfast/ports/method.hpp>

#include "http/render.hpp"

namespace holdfast::http {
namespace {

using engine::EngineError;
using ports::VerifyError;

struct Row {
  unsigned status;
  std::string_view code;
  int retry_after_s = 0;
};

Row row_of(EngineError error) {
  switch (error) {
    case EngineError::unknown_chain: return {400, "unknown_chain"};
    case EngineError::unknown_method: return {400, "unknown_method"};
    case EngineError::bad_terms: return {400, "bad_terms"};
    case EngineError::bad_validity: return {400, "bad_validity"};
    case EngineError::not_found: return {404, "not_found"};
    case EngineError::key_reused: return {422, "key_reused"};
    case EngineError::bad_authorization: return {422, "bad_authorization"};
    case EngineError::already_authorized: return {409, "already_authorized"};
    case EngineError::redemption_taken: return {409, "redemption_taken"};
    case EngineError::too_late: return {409, "too_late"};
    case EngineError::draining: return {503, "draining", 1};
    case EngineError::try_again: return {503, "try_again", 1};
    case EngineError::name_taken: return {409, "name_taken"};
    case EngineError::wrong_state: return {409, "wrong_state"};
    case EngineError::unproven: return {409, "unproven"};
  }
  return {500, "internal_error"};
}

/// 400: no signature of any payment. 422: one, but it does not authorise this payment now.
Row row_of(VerifyError error) {
  switch (error) {
    case VerifyError::bad_terms: return {400, "bad_terms"};
    case VerifyError::bad_signature: return {400, "bad_signature"};
    case VerifyError::wrong_signer: return {422, "wrong_signer"};
    case VerifyError::wrong_nonce: return {422, "wrong_nonce"};
    case VerifyError::not_yet_valid: return {422, "not_yet_valid"};
    case VerifyError::expired: return {422, "expired"};
    case VerifyError::already_used: return {422, "already_used"};
    case VerifyError::canceled: return {422, "canceled"};
    case VerifyError::insufficient_funds: return {422, "insufficient_funds"};
    case VerifyError::simulation_failed: return {422, "simulation_failed"};
    case VerifyError::node_trouble: return {503, "node_trouble", 1};
    case VerifyError::not_a_contract: return {422, "not_a_contract"};
    case VerifyError::not_supported: return {422, "not_supported"};
    case VerifyError::name_mismatch: return {422, "name_mismatch"};
    case VerifyError::version_mismatch: return {422, "version_mismatch"};
    case VerifyError::allowance_missing: return {422, "allowance_missing"};
    case VerifyError::spender_mismatch: return {422, "spender_mismatch"};
    case VerifyError::factory_not_allowed: return {422, "factory_not_allowed"};
    case VerifyError::deployment_failed: return {422, "deployment_failed"};
  }
  return {500, "internal_error"};
}

bool is_of(const boost::system::error_code& code, const boost::system::error_code& kind) {
  return code.category() == kind.category();
}

}  // namespace

Problem problem_of(const Error& error) {
  Row row{500, "internal_error"};
  if (is_of(error.code, EngineError::not_found)) {
    row = row_of(static_cast<EngineError>(error.code.value()));
  } else if (is_of(error.code, VerifyError::bad_terms)) {
    row = row_of(static_cast<VerifyError>(error.code.value()));
  }
  if (row.status == 500) return {500, row.code, "the server met a condition it did not expect"};
  return {row.status, row.code, error.detail, row.retry_after_s};
}

Broken problem_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const store::StoreUnavailable& error) {
    return {{503, "store_unavailable", "the store cannot be used now; nothing was changed", 1},
            true,
            error.what()};
  } catch (const store::StoreInDoubt& error) {
    return {{503, "outcome_unknown",
             "the outcome of this request is unknown: retry with the same Idempotency-Key", 1},
            true,
            error.what()};
  } catch (const store::StoreBusy& error) {
    return {{429, "busy", "too many requests wait to be stored; nothing was changed", 1},
            true,
            error.what()};
  } catch (const std::exception& error) {
    return {internal_error({}), false, error.what()};
  } catch (...) {
    return {internal_error({}), false, "an exception of no known kind"};
  }
}

Problem internal_error(std::string_view request_id) {
  return {500, "internal_error",
          "the server met a condition it did not expect; the log knows it as request " +
              std::string(request_id)};
}

Response response_of(const Problem& problem) {
  Response response;
  response.status = problem.status;
  response.body = render_problem(problem.code, problem.detail);
  if (problem.status == 401) {
    response.headers.push_back({"WWW-Authenticate", "Bearer realm=\"holdfast\""});
  }
  if (problem.retry_after_s > 0) {
    response.headers.push_back({"Retry-After", std::to_string(problem.retry_after_s)});
  }
  return response;
}

std::string shown(std::string_view text) {
  static constexpr std::size_t longest = 64;
  std::string out = "'";
  for (const char c : text.substr(0, longest)) out.push_back(c >= 0x20 && c <= 0x7e ? c : '?');
  return out.append(text.size() > longest ? "…'" : "'");
}

}  // namespace holdfast::http
