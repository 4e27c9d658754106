// Cases L: the journal and the amounts in it.
#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include "engine/rig.hpp"
#include "rig.hpp"
#include "sim/executor.hpp"
#include "store/audit.hpp"
#include "store/fixture.hpp"
#include "store/journal.hpp"

using namespace holdfast::cases;
using namespace holdfast;

TEST_CASE("L1: a hold behind a transaction never expires") {
  testing::RigOptions options;
  options.block_ms = 0;
  options.config.policy.stuck_after_ms = 600'000;
  testing::Rig rig(options);
  rig.start();
  const domain::Intent one = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(one.id, domain::IntentState::confirming, 10'000));
  // Far longer than leases, sends and reviews.
  for (int hours = 0; hours < 3; ++hours) {
    rig.world.run_for(3'600'000);
    CHECK(rig.pending_hold("sim:1").decimal() == "1000000");
    const auto state = rig.state(one.id);
    CHECK((state == domain::IntentState::confirming || state == domain::IntentState::settling));
  }
  rig.chain.mine(4);
  CHECK(rig.reaches(one.id, domain::IntentState::settled, 120'000));
  CHECK(rig.pending_hold("sim:1").decimal() == "0");
  testing::check_paid_once(rig, one);
  testing::check_audit(rig);
}

TEST_CASE("L1: a hold of which nothing was sent is held until its payment ends, and then is not") {
  testing::Rig rig;
  for (int i = 0; i < 200; ++i) rig.signer.fail_next(sim::unknown("the signer does not answer"));
  rig.start();
  const domain::Intent one = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(one.id, domain::IntentState::settling, 5'000));
  for (const std::int64_t later_ms : {4'000, 2'000, 54'000}) {
    rig.world.run_for(later_ms);
    CHECK(rig.state(one.id) == domain::IntentState::settling);
    CHECK(rig.pending_hold("sim:1").decimal() == "1000000");
    CHECK(rig.detail(one.id).journal.size() == 1);
  }
  REQUIRE(rig.run(rig.engine->abandon(rig.by("ann"), one.id, "not wanted")).has_value());
  REQUIRE(rig.reaches(one.id, domain::IntentState::failed, 60'000));
  CHECK(rig.pending_hold("sim:1").decimal() == "0");
  CHECK(rig.detail(one.id).journal.size() == 2);
  CHECK(rig.chain.posts().empty());
  testing::check_audit(rig);
}

TEST_CASE("L1: what balances, post and void say of a hold agrees at every moment") {
  Rig rig;
  const auto pending_hold = [&] {
    const Answer balances = rig.ask("GET", "/v1/balances");
    for (const json::value& one : balances.body.at("balances").as_array()) {
      if (text_of(one, "account") == "hold:eip155:31337") return text_of(one, "pending");
    }
    return std::string("0");
  };
  rig.start();
  CHECK(pending_hold() == "0");
  const Payment one = rig.payout();
  REQUIRE(rig.reaches(one.id, "confirming"));
  CHECK(pending_hold() == "1000000");
  test::pause_ms(6'000);
  CHECK(pending_hold() == "1000000");
  CHECK(rig.mine_until(one, "settled"));
  CHECK(pending_hold() == "0");
  rig.check_all();
}

namespace {

/// What the journal says to the post of this amount, or (empty) to the void of this intent's hold.
Result<void> resolve(test::TestStore& db, std::int64_t row, const domain::Intent& intent,
                     std::optional<U256> arrived) {
  return db.write([&](store::Txn& txn) -> Result<void> {
    store::Posting posting(txn, row);
    const auto taken = arrived ? posting.post(intent, *arrived, 5'000) : posting.void_hold(5'000);
    if (taken.has_error()) return taken.error();
    const auto balanced = posting.balance();
    if (balanced.has_error()) return balanced.error();
    posting.write();
    return {};
  });
}

}  // namespace

TEST_CASE("L2: of a hundred ways to end a hold one wins, and the others change nothing") {
  sim::Chance chance(7);
  for (int round = 0; round < 20; ++round) {
    test::TestStore db;
    test::Desk desk(db);
    const auto intent = desk.create(test::payout(1));
    desk.bring_to(intent.id, domain::IntentState::settling);
    const std::int64_t row = db.number("SELECT row FROM intents");
    std::optional<bool> won;  // true: the post
    int refused = 0;
    for (int i = 0; i < 100; ++i) {
      const bool post = chance.below(3) == 0;
      const auto answer =
          resolve(db, row, intent, post ? std::optional(intent.terms.amount) : std::nullopt);
      if (!won) {
        CHECK(answer.has_value());
        won = post;
      } else if (*won == post) {
        CHECK(answer.has_value());  // the same once more: nothing is written
      } else {
        CHECK(answer.has_error());
        ++refused;
      }
      CHECK(db.number("SELECT count(*) FROM entries") == 2);
    }
    CHECK(refused > 0);
    if (*won) {
      // The same entry with another content.
      CHECK(resolve(db, row, intent, U256(999)).has_error());
      CHECK(db.number("SELECT count(*) FROM entries") == 2);
    }
    CHECK(db.read([](store::Txn& txn) { return store::verify_ledger(txn, nullptr).good(); }));
  }
}

TEST_CASE("L2: a post without a hold, or for more than it holds, is refused") {
  test::TestStore db;
  test::Desk desk(db);
  const auto free = desk.create(test::payout(1));
  const auto row_of = [&](const char* where) {
    return db.number(std::string("SELECT row FROM intents WHERE ") + where);
  };
  CHECK(resolve(db, row_of("1"), free, free.terms.amount).has_error());
  CHECK(resolve(db, row_of("1"), free, std::nullopt).has_error());
  desk.bring_to(free.id, domain::IntentState::settling);
  const auto more = free.terms.amount.plus(1);
  CHECK(resolve(db, row_of("1"), free, more).has_error());
  CHECK(db.number("SELECT count(*) FROM entries") == 1);
}

TEST_CASE("L7: amounts are decimal whole numbers, bit for bit, and nothing else") {
  Rig rig;
  rig.start();
  const std::string most =
      "115792089237316195423570985008687907853269984665640564039457584007913129639935";
  const std::string beyond =
      "115792089237316195423570985008687907853269984665640564039457584007913129639936";
  for (const std::string& good : {std::string("9007199254740993"), std::string("1"), most}) {
    const Payment one = rig.created(good);
    CHECK(one.first_answer.find("\"amount\":\"" + good + "\"") != std::string::npos);
    CHECK(text_of(rig.detail(one.id), "amount") == good);
    // What the payer is shown to sign.
    CHECK(one.first_answer.find("\"value\":\"" + good + "\"") != std::string::npos);
  }
  int key = 0;
  for (const std::string& bad :
       {beyond, std::string("0"), std::string("-1"), std::string("1e6"), std::string("0x10"),
        std::string("01"), std::string(" 1"), std::string("1.0"), std::string()}) {
    CAPTURE(bad);
    const Answer answer = rig.ask("POST", "/v1/payment_intents", rig.payout_body(bad),
                                  "bad-" + std::to_string(++key));
    CHECK(answer.status == 400);
    CHECK(answer.text.find("amount") != std::string::npos);
  }
  std::string number = rig.payout_body("9007199254740993");
  number.replace(number.find("\"9007199254740993\""), 18, "9007199254740993");
  CHECK(rig.ask("POST", "/v1/payment_intents", number, "number").status == 400);

  // Calldata, hold, log and post agree, and nothing is scaled by the token's six decimals.
  rig.set_token_balance(rig.relayers[0], 9'007'199'254'740'993);
  const Payment out = rig.payout("9007199254740993");
  CHECK(rig.mine_until(out, "settled"));
  const auto tx = evm::decode_signed(*from_hex(rig.raws_of(out).front().raw));
  REQUIRE(tx.has_value());
  CHECK(to_0x(tx->tx.data).find("0020000000000001") != std::string::npos);
  const json::value detail = rig.detail(out.id);
  for (const json::value& entry : detail.at("journal").as_array()) {
    if (text_of(entry, "kind") == "gas") continue;
    for (const json::value& leg : entry.at("legs").as_array()) {
      const std::string amount = text_of(leg, "amount");
      CHECK((amount == "9007199254740993" || amount == "-9007199254740993"));
    }
  }
  Allowed allowed;
  allowed.unsettled = true;  // created, and signed by nobody
  rig.check_all(allowed);
}
