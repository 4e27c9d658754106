#include "engine/broadcaster.hpp"
#include "base/kill_point.hpp"
#include "base/teeth.hpp"

#include <algorithm>
#include <vector>

#include "engine/join.hpp"

namespace holdfast::engine {
namespace {

/// How long a number waits for those below it before its job looks at the world again.
constexpr std::int64_t patience_ms = 10'000;

// Bytes that a restart or a lost pool left nowhere to be found are posted again by their payment's
// delivery: as long as that is at work, their number is open like one that was never posted.
bool is_open(const domain::Facts& facts) {
  using enum domain::SlotState;
  if (!facts.slot) return false;
  const domain::SlotState state = facts.slot->state;
  return state == reserved || state == signed_ ||
         (state == reconciliation_required && facts.intent.state == domain::IntentState::settling);
}

}  // namespace

Broadcaster::Lane& Broadcaster::lane_of(const domain::Address& account) {
  auto& lane = lanes_[account];
  if (!lane) lane = std::make_unique<Lane>();
  return *lane;
}

// Said to those that wait: their turn may come long after the delivery decided to post.
void Broadcaster::withdraw(const domain::Facts& facts) {
  const bool unwanted = facts.intent.cancel_asked || domain::is_terminal(facts.intent.state) ||
                        (facts.slot && facts.slot->handed_over);
  if (!unwanted || !facts.slot) return;
  const auto lane = lanes_.find(facts.slot->account);
  if (lane == lanes_.end()) return;
  const auto waiting = lane->second->ready.find(facts.slot->sequence);
  if (waiting != lane->second->ready.end()) waiting->second->is_unwanted = true;
}

const char* Broadcaster::why_not(const Waiting& waiting) const {
  if (stopped_) return "the chain is halted";
  if (waiting.is_unwanted) return "canceled or handed over while it waited";
  const std::int64_t now_s = std::max(clock_.wall_ms() / 1000, view_.latest_time_s());
  const bool late = now_s >= waiting.publish_before_s && !planted(Tooth::window_ignored);
  return late ? "past its publish deadline" : nullptr;
}

void Broadcaster::note(const domain::Facts& facts) {
  withdraw(facts);
  const domain::IntentId& item = facts.intent.id;
  const auto known = places_.find(item);
  const bool open = is_open(facts);
  if (known != places_.end()) {
    const bool same = open && known->second.account == facts.slot->account &&
                      known->second.sequence == facts.slot->sequence;
    if (same) return;
    Lane& lane = lane_of(known->second.account);
    lane.open.erase(known->second.sequence);
    places_.erase(known);
    lane.changed.notify_all();
  }
  if (!open) return;
  places_[item] = {facts.slot->account, facts.slot->sequence};
  lane_of(facts.slot->account).open[facts.slot->sequence] = item;
}

// Out of the way of those above it; its place stays known, so that it does not come back.
void Broadcaster::posted(Lane& lane, domain::Sequence sequence) { lane.open.erase(sequence); }

template <class See>
void Broadcaster::each_due(const Lane& lane, See see) const {
  std::size_t left = std::max<std::size_t>(chain_.info().posts_at_once, 1);
  auto open = lane.open.begin();
  for (const auto& [sequence, waiting] : lane.ready) {
    if (left-- == 0) return;
    // Those below that are ready were passed already.
    const bool waits = open != lane.open.end() && open->first < sequence;
    if (waits && !planted(Tooth::out_of_turn)) return;
    if (open != lane.open.end() && open->first == sequence) ++open;
    if (!see(sequence)) return;
  }
}

std::vector<domain::Sequence> Broadcaster::due(const Lane& lane) const {
  std::vector<domain::Sequence> out;
  each_due(lane, [&](domain::Sequence sequence) {
    out.push_back(sequence);
    return true;
  });
  return out;
}

bool Broadcaster::is_due(const Lane& lane, domain::Sequence mine) const {
  bool found = false;
  each_due(lane, [&](domain::Sequence sequence) {
    found = sequence == mine;
    return sequence < mine;
  });
  return found;
}

ports::Awaitable<std::optional<ports::Outcome<ports::Posted>>> Broadcaster::post(
    domain::Slot slot, Bytes bytes, domain::TxHash hash, std::int64_t publish_before_s) {
  Lane& lane = lane_of(slot.account);
  const auto waiting = std::make_shared<Waiting>();
  waiting->bytes = std::move(bytes);
  waiting->hash = hash;
  waiting->publish_before_s = publish_before_s;
  lane.ready[slot.sequence] = waiting;
  // Leaves the line however this frame ends.
  struct Leave {
    Lane& lane;
    domain::Sequence sequence;
    const std::shared_ptr<Waiting>& mine;
    ~Leave() {
      const auto at = lane.ready.find(sequence);
      if (at != lane.ready.end() && at->second == mine) lane.ready.erase(at);
    }
  } leave{lane, slot.sequence, waiting};

  const std::int64_t give_up_ms = clock_.mono_ms() + patience_ms;
  while (!waiting->answer) {
    // Asked only where the answer decides: while a round is out everybody waits for its end, and a
    // line may be thousands long.
    if (!lane.posting && is_due(lane, slot.sequence)) {
      co_await post_round(lane);
      continue;
    }
    const std::int64_t left_ms = give_up_ms - clock_.mono_ms();
    // A round that has our bytes in flight ends by itself: its exchange has a deadline.
    if (lane.posting) {
      co_await lane.changed.wait();
    } else if (left_ms <= 0 || !co_await lane.changed.wait_for(clock_, left_ms)) {
      if (!waiting->answer) co_return std::nullopt;
    }
  }
  co_return waiting->answer;
}

ports::Awaitable<void> Broadcaster::post_round(Lane& lane) {
  struct Round {
    Lane& lane;
    std::vector<std::pair<domain::Sequence, std::shared_ptr<Waiting>>> members;
    explicit Round(Lane& of) : lane(of) { lane.posting = true; }
    ~Round() {
      // Cut short with bytes in flight: whoever has no answer may still have been sent.
      for (auto& [sequence, member] : members) {
        if (!member->answer) member->answer = ports::Unknown{"the post was cut short", false};
      }
      lane.posting = false;
      lane.changed.notify_all();
    }
  } round{lane};

  // One turn of the loop, so that everybody who is ready shares the round.
  co_await clock_.sleep(0);
  std::vector<ports::Awaitable<ports::Outcome<ports::Posted>>> posts;
  for (const domain::Sequence sequence : due(lane)) {
    if (const char* const why = why_not(*lane.ready.at(sequence))) {
      lane.ready.at(sequence)->answer = ports::NotSent{why};
      lane.ready.erase(sequence);
      // Those above it go when its number is out of their way, and not beside it.
      if (stopped_) continue;
      break;
    }
    const auto& member = round.members.emplace_back(sequence, lane.ready.at(sequence));
    lane.ready.erase(sequence);
    posts.push_back(chain_.post(member.second->bytes, member.second->hash));
  }
  HOLDFAST_KILL_POINT_IF(!posts.empty(), "KP3");
  auto answers = co_await join_all(std::move(posts));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    auto& [sequence, member] = round.members[i];
    if (answers[i].not_sent() == nullptr) posted(lane, sequence);
    member->answer = std::move(answers[i]);
  }
}

void Broadcaster::abandon() {
  for (auto& [account, lane] : lanes_) lane->changed.abandon();
}

}  // namespace holdfast::engine
