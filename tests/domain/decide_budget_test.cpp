// The delivery budget: what spends it, and the safe ending of a payment whose job has none left.
#include <doctest/doctest.h>

#include "decide_scene.hpp"

namespace holdfast::test {

TEST_CASE("budget: declared poison ends a payment as a spent budget does, and never less safely") {
  struct Row {
    const char* name;
    Scene scene;
    const char* step;
  };
  const Row rows[] = {
      {"created", scene(IntentState::created, true), "ack"},
      {"authorized payout", authorized(false), "cancel"},
      {"authorized bearer", authorized(true), "cancel"},
      {"claimed payout", claimed(false), "fail"},
      {"claimed bearer", claimed(true), "fail"},
      {"signed payout", signed_scene(false), "review"},
      {"signed bearer", signed_scene(true), "review"},
      {"broadcast", signed_scene(false, SlotState::broadcast), "review"},
      {"a slot that says it was signed", claimed(false).slot_in(SlotState::signed_), "review"},
      {"confirming", scene(IntentState::confirming, false), "ack"},
      {"settled", scene(IntentState::settled, false), "ack"},
      {"in review", scene(IntentState::needs_review, false), "ack"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    Scene poison = row.scene;
    poison.now.declared_poison = true;
    CHECK(poison.step() == row.step);
    Scene lapsed = row.scene;
    lapsed.now.lapsed_leases = lapsed.policy.max_lapsed_leases + 1;
    CHECK(lapsed.step() == row.step);
    Scene healthy = row.scene;
    healthy.now.tries = 1'000'000;  // deliveries alone, as many as there may be, spend nothing
    const std::string step = healthy.step();
    const bool ends = step == "cancel" || step == "fail" || step == "review";
    CHECK_FALSE(ends);
  }
  Scene poison = claimed(false);
  poison.now.declared_poison = true;
  CHECK(poison.take<step::Fail>().reason == "budget_spent");
  CHECK(std::holds_alternative<NeverAsked>(poison.take<step::Fail>().proof));
}

TEST_CASE("decide: settling: whoever waits for room or a turn looks again soon, however often") {
  Scene s = signed_scene().posted(PostAnswer::not_its_turn);
  s.now.tries = 12;
  CHECK(s.take<step::Nack>().delay_ms <= 2'000);
  s.posted(PostAnswer::not_sent);
  CHECK(s.take<step::Nack>().delay_ms > 10'000);
  Scene full = claimed();
  full.facts.slot.reset();
  full.now.tries = 12;
  full.seen.reserve = ReserveSeen{ReserveSeen::Result::account_full};
  CHECK(full.why() == "account_full");
  CHECK(full.take<step::Nack>().delay_ms <= 2'000);
}

}  // namespace holdfast::test
