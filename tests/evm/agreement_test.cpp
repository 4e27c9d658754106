// What several endpoints' answers come to, as tables.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "evm/agreement.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using Kind = ports::RefusalKind;
using Place = ports::Whereabouts::Place;
using Found = std::optional<domain::MinedTx>;
using ports::Outcome;

namespace {

const ports::NotSent unsent{"unsent"};
const ports::Unknown lost{"lost", false};
const ports::Unknown limited{"limited", true};

ports::Refused no(Kind kind) { return {kind, std::string(to_text(kind))}; }
ports::Whereabouts place(Place at) { return {at, {}}; }

Found mined(std::uint64_t block) {
  domain::MinedTx tx;
  tx.block.height = block;
  return tx;
}

}  // namespace

TEST_CASE("agreement: an acceptance anywhere is an acceptance") {
  const ports::Posted accepted{};
  const ports::Posted known{.already_known = true};
  for (const Said<ports::Posted>& said :
       std::vector<Said<ports::Posted>>{{accepted},
                                        {lost, accepted},
                                        {accepted, no(Kind::nonce_too_low)},
                                        {no(Kind::malformed), unsent, limited, known}}) {
    CHECK(agreed_post(said).ok() != nullptr);
  }
  CHECK_FALSE(agreed_post({known, accepted}).ok()->already_known);
}

TEST_CASE("agreement: without an acceptance, one unknown leaves the post unknown") {
  CHECK(agreed_post({no(Kind::malformed), lost}).text() == "unknown: lost");
  CHECK(agreed_post({no(Kind::malformed), limited, unsent}).text() == "unknown: limited");
  CHECK(agreed_post({limited, lost}).text() == "unknown: lost");
  CHECK(agreed_post({unsent, lost}).unknown() != nullptr);
}

TEST_CASE("agreement: of several refusals the most careful one is acted on") {
  CHECK(agreed_post({no(Kind::malformed), no(Kind::nonce_too_low)}).refused()->kind ==
        Kind::nonce_too_low);
  CHECK(agreed_post({no(Kind::underpriced), no(Kind::pool_full)}).refused()->kind ==
        Kind::pool_full);
  CHECK(agreed_post({no(Kind::gas), unsent}).refused()->kind == Kind::gas);
  CHECK(agreed_post({unsent, unsent}).not_sent() != nullptr);
}

TEST_CASE("agreement: a hash is not found only when nobody has it and everybody answered") {
  const auto where = [](const Said<ports::Whereabouts>& said) {
    const auto agreed = agreed_place(said);
    return agreed.ok() != nullptr ? std::to_string(static_cast<int>(agreed.ok()->place))
                                  : agreed.text();
  };
  const auto nowhere = place(Place::not_found);
  CHECK(where({nowhere, nowhere}) == "0");
  CHECK(where({nowhere, place(Place::pending)}) == "1");
  CHECK(where({place(Place::pending), place(Place::mined)}) == "2");
  CHECK(where({lost, place(Place::mined)}) == "2");
  CHECK(where({lost, place(Place::pending)}) == "1");
  const std::string some = "unknown: not found, but not every endpoint answered";
  CHECK(where({nowhere, lost}) == some);
  CHECK(where({nowhere, unsent}) == some);
  CHECK(where({no(Kind::other), nowhere}) == some);
  CHECK(where({unsent, lost}) == "unknown: lost");
}

TEST_CASE("agreement: that a transaction failed takes everybody, that it went through takes one") {
  ports::Whereabouts failed = place(Place::mined);
  failed.tx = mined(7);
  ports::Whereabouts succeeded = failed;
  succeeded.tx->succeeded = true;
  ports::Whereabouts elsewhere = failed;
  elsewhere.tx->block.height = 8;
  CHECK_FALSE(agreed_place({failed, failed}).ok()->tx->succeeded);
  CHECK(agreed_place({succeeded, place(Place::not_found)}).ok()->tx->succeeded);
  for (const Outcome<ports::Whereabouts>& other :
       {Outcome<ports::Whereabouts>(succeeded), Outcome<ports::Whereabouts>(elsewhere),
        Outcome<ports::Whereabouts>(place(Place::not_found)),
        Outcome<ports::Whereabouts>(place(Place::pending)), Outcome<ports::Whereabouts>(lost)}) {
    CHECK(agreed_place({failed, other}).text() ==
          "unknown: it ran and failed, but not every endpoint says so");
  }
}

TEST_CASE("agreement: two say the same of a transaction when all that it did is the same") {
  domain::MinedTx tx = *mined(7);
  tx.transfers = {{{"token"}, {"a"}, {"b"}, 5, 0}};
  tx.authorizations = {{{"token"}, {"a"}, {}, false, 1}};
  CHECK(says_the_same(tx, tx));
  const auto differs = [&](auto change) {
    domain::MinedTx other = tx;
    change(other);
    return !says_the_same(tx, other) && !says_the_same(other, tx);
  };
  CHECK(differs([](domain::MinedTx& other) { other.succeeded = true; }));
  CHECK(differs([](domain::MinedTx& other) { other.block.height = 8; }));
  CHECK(differs([](domain::MinedTx& other) { other.hash.value[0] = 1; }));
  CHECK(differs([](domain::MinedTx& other) { other.sender = {"c"}; }));
  CHECK(differs([](domain::MinedTx& other) { other.sequence = {1}; }));
  CHECK(differs([](domain::MinedTx& other) { other.trailing_ref = domain::Ref{}; }));
  CHECK(differs([](domain::MinedTx& other) { other.transfers.clear(); }));
  CHECK(differs([](domain::MinedTx& other) { other.transfers[0].amount = 4; }));
  CHECK(differs([](domain::MinedTx& other) { other.transfers[0].to = {"c"}; }));
  CHECK(differs([](domain::MinedTx& other) { other.authorizations[0].canceled = true; }));
  CHECK_FALSE(differs([](domain::MinedTx& other) { other.fee_paid = 9; }));
}

TEST_CASE("agreement: a call that one says would run would run; that it would not takes all") {
  const auto runs_by = [](const Said<ports::Simulated>& said) { return agreed_run(said); };
  const ports::Simulated runs{21'000};
  CHECK(runs_by({no(Kind::reverted), runs}).ok() != nullptr);
  CHECK(runs_by({no(Kind::reverted), no(Kind::reverted)}).refused()->kind == Kind::reverted);
  CHECK(runs_by({no(Kind::reverted), no(Kind::unfunded)}).refused()->kind == Kind::unfunded);
  CHECK(runs_by({no(Kind::reverted), lost}).text() == "unknown: lost");
  CHECK(runs_by({no(Kind::reverted), unsent}).not_sent() != nullptr);
  CHECK(runs_by({no(Kind::no_such_method), no(Kind::reverted)}).refused()->kind == Kind::reverted);
  CHECK(runs_by({no(Kind::no_such_method)}).refused() != nullptr);
}

TEST_CASE("agreement: counts are the highest to go on from and the lowest to end by") {
  const ports::SequenceCounts one{.latest = {5}, .pending = {9}, .finalized = {4}};
  const ports::SequenceCounts two{.latest = {6}, .pending = {7}, .finalized = {3}};
  const auto agreed = agreed_counts({one, lost, two});
  REQUIRE(agreed.ok() != nullptr);
  CHECK(agreed.ok()->latest.value == 6);
  CHECK(agreed.ok()->pending.value == 9);
  CHECK(agreed.ok()->finalized.value == 3);
  CHECK(agreed_counts({unsent, lost}).text() == "unknown: lost");
}

TEST_CASE("agreement: who used a number is believed when nobody says otherwise") {
  CHECK(agreed_consumer({mined(7), mined(7)}).ok()->value().block.height == 7);
  CHECK(agreed_consumer({lost, mined(7)}).ok()->value().block.height == 7);
  CHECK(agreed_consumer({mined(7), mined(8)}).unknown() != nullptr);
  CHECK(agreed_consumer({mined(7), Found{}}).unknown() != nullptr);
  Found otherwise = mined(7);
  otherwise->succeeded = true;
  CHECK(agreed_consumer({mined(7), otherwise}).unknown() != nullptr);
  const auto none = agreed_consumer({Found{}, Found{}});
  REQUIRE(none.ok() != nullptr);
  CHECK_FALSE(none.ok()->has_value());
  CHECK(agreed_consumer({Found{}, lost}).unknown() != nullptr);
}
