// Cases I: the same request again, another request with the same key, and crashes in between.
#include <algorithm>
#include <mutex>
#include <set>
#include <thread>

#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

const std::string intents = "/v1/payment_intents";

/// What so many connections get that ask at the same time.
std::vector<Answer> all_at_once(std::size_t count, const std::function<Answer(std::size_t)>& one) {
  std::vector<Answer> answers(count);
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] { answers[i] = one(i); });
  }
  for (std::thread& thread : threads) thread.join();
  return answers;
}

}  // namespace

TEST_CASE("I1: the same key in parallel makes one payment, and every answer is one of three") {
  Rig rig;
  rig.start();
  constexpr std::size_t rounds = 20;
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::string key = "i1-" + std::to_string(round);
    const auto answers = all_at_once(
        50, [&](std::size_t) { return rig.ask("POST", intents, rig.payout_body(), key); });
    std::set<std::string> bodies;
    int fresh = 0;
    for (const Answer& answer : answers) {
      if (answer.status == 409) {
        CHECK(text_of(answer.body, "error") == "in_progress");
        continue;
      }
      CHECK(answer.status == 201);
      bodies.insert(answer.text);
      if (!answer.replayed) ++fresh;
    }
    CHECK(fresh == 1);
    CHECK(bodies.size() == 1);
    for (int i = 0; i < 5; ++i) {
      const Answer again = rig.ask("POST", intents, rig.payout_body(), key);
      CHECK(again.replayed);
      CHECK(again.text == *bodies.begin());
    }
    rig.ask_for(rig.payout_body(), key);
  }
  CHECK(rig.store().number("SELECT count(*) FROM intents") == rounds);
  CHECK(rig.mine_until(rig.payments, "settled", 30'000));
  CHECK(rig.transfers_of_all() == rounds);
  rig.check_all();
}

TEST_CASE("I2: the same key with another amount or on another route is no replay") {
  Rig rig;
  rig.start();
  const Payment first = rig.ask_for(rig.payout_body("1000000"), "k");
  const Answer other = rig.ask("POST", intents, rig.payout_body("2000000"), "k");
  CHECK(other.status == 422);
  CHECK(text_of(rig.detail(first.id), "amount") == "1000000");
  CHECK(rig.store().number("SELECT count(*) FROM intents") == 1);

  // Another route is a scope of its own: never the first route's answer.
  const Answer cancel = rig.ask("POST", intents + "/" + first.id + "/cancel", "{}", "k");
  CHECK((cancel.status == 200 || cancel.status == 409));
  CHECK(cancel.text != first.first_answer);
  CHECK_FALSE(cancel.replayed);

  for (int round = 0; round < 10; ++round) {
    const std::string key = "parallel-" + std::to_string(round);
    const auto answers = all_at_once(2, [&](std::size_t i) {
      return rig.ask("POST", intents, rig.payout_body(i == 0 ? "1000000" : "2000000"), key);
    });
    const auto made =
        std::ranges::count_if(answers, [](const Answer& a) { return a.status == 201; });
    const auto refused = std::ranges::count_if(
        answers, [](const Answer& a) { return a.status == 422 || a.status == 409; });
    CHECK(made == 1);
    CHECK(refused == 1);
  }
  CHECK(rig.store().number("SELECT count(*) FROM intents") == 11);
  const std::string first_state = cancel.status == 200 ? "canceled" : "settled";
  CHECK(rig.mine_until(first, first_state));
  CHECK(test::within_ms(
      20'000,
      [&] {
        rig.mine();
        return rig.store().number(
                   "SELECT count(*) FROM intents WHERE state NOT IN ('settled',"
                   " 'canceled')") == 0;
      },
      300));
  rig.check_all();
}

namespace {

void killed_while_creating(const std::string& kill_at) {
  CAPTURE(kill_at);
  Rig rig;
  rig.start(kill_at);
  const Answer cut_off = rig.ask("POST", intents, rig.payout_body(), "i4");
  CHECK(cut_off.status == 0);
  REQUIRE(rig.dies_within(5'000));
  rig.start();
  const Payment one = rig.ask_for(rig.payout_body(), "i4");
  CHECK(rig.store().number("SELECT count(*) FROM intents") == 1);
  CHECK(rig.store().number("SELECT count(*) FROM intents i WHERE i.state = 'authorized' AND NOT"
                           " EXISTS (SELECT 1 FROM jobs j WHERE j.intent = i.row)") == 0);
  CHECK(rig.mine_until(one, "settled"));
  CHECK_FALSE(rig.logged("undriven_intent"));  // the sweep found nothing that it had to cure
  rig.check_all();
}

}  // namespace

TEST_CASE("I4: killed with the intent's row written") { killed_while_creating("CREATE1"); }
TEST_CASE("I4: killed with its key written") { killed_while_creating("CREATE2"); }
TEST_CASE("I4: killed with its job written") { killed_while_creating("CREATE3"); }
TEST_CASE("I4: killed when all was committed and nobody answered") {
  killed_while_creating("CREATE4");
}

TEST_CASE("I5: another caller's same key is another payment, and nothing of the first is shown") {
  Rig rig;
  const std::string other = rig.add_key("another-shop", "payout");
  const std::string plain = rig.add_key("third-shop", "payout");
  rig.start();
  const Payment a = rig.ask_for(rig.payout_body(), "1", plain);
  const Answer b = rig.ask("POST", intents, rig.payout_body(), "1", other);
  CHECK(b.status == 201);
  CHECK_FALSE(b.replayed);
  CHECK(text_of(b.body, "id") != a.id);
  CHECK(b.text.find(a.id) == std::string::npos);
  CHECK(b.text.find(a.ref) == std::string::npos);
  CHECK(rig.ask("POST", intents, rig.payout_body("5"), "1", other).status == 422);
  CHECK(rig.ask("GET", intents + "/" + a.id, "", "", other).status == 404);
  CHECK(rig.ask("GET", "/v1/payment_refs/" + a.ref, "", "", other).status == 404);
  CHECK(rig.ask("POST", intents + "/" + a.id + "/cancel", "{}", "c", other).status == 404);
  const Answer list = rig.ask("GET", intents, "", "", other);
  CHECK(list.text.find(a.id) == std::string::npos);
  const Payment second = rig.ask_for(rig.payout_body(), "1", other);
  CHECK(rig.mine_until({a, second}, "settled"));
  CHECK(rig.transfers_of_all() == 2);
  rig.check_all();
}

TEST_CASE("I7: a cancel that races with the worker wins or loses, and never both") {
  Options options;
  options.blocks = Blocks::at_once;
  options.log_level = "info";
  options.rpc_batch = 100;
  options.max_unconsumed = 64;
  Rig rig(options);
  rig.start();
  constexpr int rounds = 200;
  int canceled = 0;
  for (int round = 0; round < rounds; ++round) {
    const Payment one = rig.payout();
    // Sooner and later, around the moment in which the worker claims.
    test::pause_ms(round % 12);
    const Answer answer =
        rig.ask("POST", intents + "/" + one.id + "/cancel", "{}", one.key + "-cancel");
    CHECK((answer.status == 200 || answer.status == 409));
    if (answer.status == 200) {
      ++canceled;
      CHECK(rig.store().number("SELECT count(*) FROM intents i JOIN slots s ON s.item = i.row"
                               " WHERE i.state = 'canceled'") == 0);
    }
  }
  MESSAGE(canceled << " of " << rounds << " were canceled");
  CHECK(test::within_ms(
      60'000,
      [&] {
        rig.mine();
        return rig.store().number(
                   "SELECT count(*) FROM intents WHERE state NOT IN ('settled',"
                   " 'canceled')") == 0;
      },
      200));
  CHECK(rig.store().number("SELECT count(*) FROM intents WHERE state = 'canceled'") == canceled);
  CHECK(rig.store().number("SELECT count(*) FROM entries e JOIN intents i ON i.row = e.intent"
                           " WHERE i.state = 'canceled'") == 0);
  CHECK(rig.transfers_of_all() == static_cast<std::size_t>(rounds - canceled));
  rig.check_all();
}
