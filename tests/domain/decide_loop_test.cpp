#include <doctest/doctest.h>

#include "domain/decide_choices.hpp"

namespace holdfast::test {
namespace {

/// The settle loop, with a world that answers anything.
struct World {
  Scene s;
  Random random;
  bool ended = false;

  bool chance() { return draw(random, 3) == 0; }
  void clear() { s.seen = {}; }
  void stored() {
    s.attempt();
    if (draw(random, 4) == 0) s.facts.attempts.back().bytes.clear();
    if (s.facts.slot && s.facts.slot->state == SlotState::reserved) {
      s.facts.slot->state = SlotState::signed_;
    }
    clear();
    s.seen.stored_now = s.facts.attempts.back().id;
  }
  void not_stored() {
    if (chance()) {
      s.seen.sign = SignSeen{static_cast<SignSeen::Result>(draw(random, 2))};
    } else {
      answer_simulation(s, 2 + draw(random, 3));
    }
  }

  void operator()(const step::TakeSendSlot&) {
    s.seen.send_slot = SendSlotSeen{};
    if (draw(random, 4) == 0) s.seen.send_slot->blocked = Blocked::paused;
  }
  void operator()(const step::Simulate&) { answer_simulation(s, 1 + draw(random, 4)); }
  void operator()(const step::SearchAttempts&) { answer_search(s, 1 + draw(random, 9)); }
  void operator()(const step::ReadFinalSequence&) { answer_final_sequence(s, 1 + draw(random, 2)); }
  void operator()(const step::FetchConsumer& step) {
    auto tx = consumer_choice(s, 1 + draw(random, 5));
    if (s.facts.slot && s.facts.slot->id == step.slot) {
      s.seen.consumer = ConsumerSeen{tx, step.slot, false};
    } else {
      s.seen.earlier_consumers.push_back({tx, step.slot, false});
    }
  }
  void operator()(const step::ReadAuthorization&) { answer_authorization(s, 1 + draw(random, 9)); }
  void operator()(const step::ReadRefFound&) { s.seen.ref_found = RefSeen{}; }
  void operator()(const step::LookAgain&) {
    answer_search(s, 1 + draw(random, 9));
    s.seen.post->looked_again = true;
  }
  void operator()(const step::Claim&) {
    if (chance()) {
      s.seen.send_slot->blocked = Blocked::account_full;
      return;
    }
    s.facts.intent.state = IntentState::settling;
    s.facts.slots_taken = 1;
    if (s.policy.ordered) s.slot_in(SlotState::reserved);
    clear();
  }
  void operator()(const step::Reserve&) {
    if (chance()) {
      s.seen.reserve = ReserveSeen{static_cast<ReserveSeen::Result>(draw(random, 2))};
      return;
    }
    s.slot_in(SlotState::reserved);
    clear();
  }
  void operator()(const step::ReserveFresh&) {
    Slot old = *s.facts.slot;
    old.id = {6};
    old.state = SlotState::consumed;
    for (Attempt& attempt : s.facts.attempts) attempt.slot = SlotId{6};
    s.facts.earlier_slots = {old};
    s.slot_in(SlotState::reserved);
    ++s.facts.slots_taken;
    clear();
  }
  void operator()(const step::SignAndStore&) { chance() ? stored() : not_stored(); }
  void operator()(const step::Replace&) { chance() ? stored() : not_stored(); }
  void operator()(const step::AskSender&) {
    s.attempt(static_cast<AttemptOutcome>(draw(random, 5)));
    s.facts.attempts.back().bytes.clear();
    if (chance()) s.facts.attempts.back().hash.reset();
    clear();
  }
  void operator()(const step::Post& step) {
    s.seen.post = PostSeen{static_cast<PostAnswer>(draw(random, 7)), step.attempt, false};
  }
  void operator()(const step::HandOver&) {
    s.facts.slot->handed_over = true;
    clear();
  }
  void operator()(const step::ClaimPaid&) { ended = true; }
  void operator()(const step::Confirm&) { ended = true; }
  void operator()(const step::Cancel&) { ended = true; }
  void operator()(const step::Fail&) { ended = true; }
  void operator()(const step::Review&) { ended = true; }
  void operator()(const step::Ack&) { ended = true; }
  void operator()(const step::Nack&) { ended = true; }
};

Choice start(Random& random) {
  Choice choice{};
  const Dimension drawn[] = {dim_state,    dim_bearer,        dim_cancel, dim_time,
                             dim_slot,     dim_kind_of_chain, dim_budget, dim_stuck,
                             dim_attempts, dim_slots_taken};
  for (const Dimension dimension : drawn) choice[dimension] = draw(random, choices[dimension]);
  return choice;
}

}  // namespace

TEST_CASE("decide: whatever the world answers, a delivery ends after a few steps") {
  std::size_t longest = 0;
  for (std::uint64_t seed = 1; seed <= 60'000; ++seed) {
    Random random(seed);
    const Choice choice = start(random);
    World world{build(choice), random, false};
    std::string path;
    std::size_t steps = 0;
    while (!world.ended && steps < 100) {
      const Step step = world.s.decide().step;
      path += std::string(name_of(step)) + ' ';
      std::visit(world, step);
      ++steps;
    }
    CAPTURE(seed);
    CAPTURE(path);
    REQUIRE(world.ended);
    longest = std::max(longest, steps);
  }
  CAPTURE(longest);
  CHECK(longest <= 16);
}

TEST_CASE("decide: with a world that always says yes, a payment takes six steps and then ends") {
  for (const bool bearer : {true, false}) {
    Scene s = authorized(bearer);
    std::string path;
    const auto take = [&] { path += s.step() + ' '; };
    take();
    s.seen.send_slot = SendSlotSeen{};
    take();
    s.simulated(SimulationSeen::Result::passes);
    take();
    s.facts.intent.state = IntentState::settling;
    s.slot_in(SlotState::reserved);
    s.seen = {};
    take();
    s.slot_in(SlotState::signed_).attempt();
    s.seen = {};
    s.seen.stored_now = s.facts.attempts[0].id;
    take();
    s.posted(PostAnswer::accepted);
    take();
    CHECK(path == "take_send_slot simulate claim sign_and_store post confirm ");
  }
}

}  // namespace holdfast::test
