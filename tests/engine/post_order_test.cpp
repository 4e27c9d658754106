// In which order an account's bytes leave: a node that takes no gap must never see one.
#include <algorithm>
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include "rig.hpp"

namespace holdfast::testing {
namespace {

using domain::IntentState;

/// The numbers of all posts, in the order they left.
std::vector<std::uint64_t> numbers(Rig& rig, const std::vector<domain::Intent>& payments) {
  std::map<domain::TxHash, std::uint64_t> number_of;
  for (const domain::Intent& one : payments) {
    const engine::Detail detail = rig.detail(one.id);
    for (const domain::Attempt& attempt : detail.attempts) {
      number_of[*attempt.hash] = detail.slot->sequence.value;
    }
  }
  std::vector<std::uint64_t> out;
  for (const auto& post : rig.chain.posts()) out.push_back(number_of.at(post.hash));
  return out;
}

}  // namespace

TEST_CASE("post order: no more are under way at once than one exchange with the node holds") {
  for (const std::size_t most : {1U, 3U, 100U}) {
    CAPTURE(most);
    RigOptions options;
    options.posts_at_once = most;
    options.latency_ms = 100;
    Rig rig(options);
    rig.start();
    std::vector<domain::Intent> payments;
    for (int i = 0; i < 9; ++i) payments.push_back(rig.create(std::to_string(i), rig.payout()));
    for (const domain::Intent& one : payments) {
      REQUIRE(rig.reaches(one.id, IntentState::settled, 60'000));
    }
    const std::vector<std::uint64_t> left = numbers(rig, payments);
    CHECK(std::is_sorted(left.begin(), left.end()));
    std::map<std::int64_t, std::size_t> at_once;
    for (const auto& post : rig.chain.posts()) ++at_once[post.at_ms];
    std::size_t largest = 0;
    for (const auto& [at_ms, count] : at_once) largest = std::max(largest, count);
    CHECK(largest <= most);
    CHECK(largest >= std::min<std::size_t>(most, 4));
  }
}

TEST_CASE("post order: what a crash left nowhere to be found goes before the numbers above it") {
  RigOptions options;
  options.latency_ms = 20;
  Rig rig(options);
  rig.chain.script().next_post(sim::NextPost::drop_answer_unknown());
  rig.start();
  std::vector<domain::Intent> payments{rig.create("first", rig.payout())};
  REQUIRE(rig.world.run_until([&] { return rig.chain.posts().size() == 1; }, 5'000));
  rig.signer.fail_next(sim::unknown("the signer does not answer"));
  payments.push_back(rig.create("second", rig.payout()));
  REQUIRE(rig.reaches(payments[1].id, IntentState::settling, 5'000));
  rig.crash();
  const auto is_set_apart = [&] {
    return rig.detail(payments[0].id).slot->state == domain::SlotState::reconciliation_required;
  };
  for (int i = 0; i < 1'000 && !is_set_apart(); ++i) rig.world.run_for(1);
  REQUIRE(is_set_apart());
  rig.chain.script().fail_next(sim::ChainCall::sequences, sim::unknown(),
                               3);  // its delivery comes late
  payments.push_back(rig.create("third", rig.payout()));
  for (const domain::Intent& one : payments) {
    REQUIRE(rig.reaches(one.id, IntentState::settled, 60'000));
  }
  CHECK(numbers(rig, payments) == std::vector<std::uint64_t>{0, 0, 1, 2});
  check_audit(rig);
}

}  // namespace holdfast::testing
