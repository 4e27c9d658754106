// Owns: one delivery of a settle job: the loop that asks `decide`, does what it says, asks again.
// Must never: decide anything itself.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/core.hpp"

namespace holdfast::engine {

class Delivery {
 public:
  Delivery(Core& core, Unit& unit, ports::Method& method, store::Leased&& leased);

  /// Until the job is acked, nacked, or no longer ours.
  /// `facts_are_old`: they were leased before another delivery of this payment ended.
  Awaitable<void> run(bool facts_are_old);

 private:
  enum class Flow { again, done };

  Awaitable<Flow> next_step();
  /// It goes round in circles: a bug, never a loss.
  void declare_poison();

  // Questions: the answer goes into seen_ (questions.cpp).
  Awaitable<Flow> on(domain::step::TakeSendSlot step);
  Awaitable<Flow> on(domain::step::Simulate step);
  Awaitable<Flow> on(domain::step::SearchAttempts step);
  Awaitable<Flow> on(domain::step::ReadFinalSequence step);
  Awaitable<Flow> on(domain::step::FetchConsumer step);
  Awaitable<Flow> on(domain::step::ReadAuthorization step);
  Awaitable<Flow> on(domain::step::ReadRefFound);
  Awaitable<Flow> on(domain::step::LookAgain step);
  Awaitable<std::vector<domain::HashSeen>> search();
  Awaitable<domain::RefSeen> look_at(domain::CarriesRef one);
  void note_funds(const domain::Address& sender, bool unfunded);

  // Acts (settle.cpp, signing.cpp).
  Awaitable<Flow> on(domain::step::Claim step);
  Awaitable<Flow> on(domain::step::ClaimPaid step);
  Awaitable<Flow> on(domain::step::Reserve step);
  Awaitable<Flow> on(domain::step::ReserveFresh step);
  Awaitable<Flow> on(domain::step::SignAndStore step);
  Awaitable<Flow> on(domain::step::AskSender step);
  Awaitable<Flow> on(domain::step::Post step);
  Awaitable<Flow> on(domain::step::Replace step);
  Awaitable<Flow> on(domain::step::HandOver step);
  Awaitable<Flow> on(domain::step::Confirm step);
  Awaitable<Flow> on(domain::step::Cancel step);
  Awaitable<Flow> on(domain::step::Fail step);
  Awaitable<Flow> on(domain::step::Review step);
  Awaitable<Flow> on(domain::step::Ack step);
  Awaitable<Flow> on(domain::step::Nack step);

  domain::Now now();
  const domain::Attempt* attempt(domain::AttemptId id) const;
  std::unique_ptr<store::Move> move_to(domain::IntentState to, std::string reason) const;
  /// What a write answered: facts to go on with, or a race that ends or restarts this delivery.
  Awaitable<Flow> take(Result<domain::Facts> facts);
  Awaitable<Flow> finish(std::unique_ptr<store::Move> wanted);
  Awaitable<Flow> read_again();
  Awaitable<Flow> reserve();
  Awaitable<void> record(store::PostRecord wanted);
  Awaitable<Flow> seal_and_store(domain::Fees fees);
  Awaitable<std::optional<domain::Fees>> fees();

  Core& core_;
  Unit& unit_;
  ports::Method& method_;
  domain::Lease lease_;
  domain::Facts facts_;
  domain::Seen seen_;
  std::optional<Throttle::Slot> send_slot_;
  std::optional<std::uint64_t> gas_;  ///< as simulated in this delivery
  bool poison_ = false;               ///< declared
};

}  // namespace holdfast::engine
