// Which chain each endpoint of a pool serves, and whether it answers.
#include <algorithm>

#include <holdfast/base/log.hpp>

#include "evm/endpoint_pool_core.hpp"
#include "evm/wire.hpp"

namespace holdfast::evm {

namespace asio = boost::asio;

namespace {
std::string chain_text(std::uint64_t number) { return "eip155:" + std::to_string(number); }
}  // namespace

EndpointEvent event_of(const Answer& answer, bool held_back) {
  if (answer.not_sent() != nullptr) {
    return held_back ? EndpointEvent::limited : EndpointEvent::failed;
  }
  const ports::Unknown* lost = answer.unknown();
  if (lost == nullptr) return EndpointEvent::answered;
  if (lost->rate_limited) return EndpointEvent::limited;
  return lost->answered ? EndpointEvent::answered : EndpointEvent::failed;
}

// --- what is told of them --------------------------------------------------------------------

std::string EndpointPool::Core::text_of(const Endpoint& one) const {
  std::string text = one.client->name() + ": " + std::string(to_text(one.health.state));
  const std::int64_t held_ms = one.client->held_back_ms();
  if (one.health.state != EndpointState::usable) return text + ", " + one.why;
  return held_ms > 0 ? text + ", asks for a pause of " + std::to_string(held_ms) + " ms" : text;
}

std::string EndpointPool::Core::nobody_text() const {
  std::string text = "no endpoint of " + chain_text(chain_) + " can be used";
  for (const auto& one : endpoints_) text += "; " + text_of(*one);
  return text;
}

// --- who is behind ------------------------------------------------------------------------------

namespace {
std::string behind_text(std::uint64_t height, std::uint64_t others) {
  return "its newest block is " + std::to_string(height) + ", and another had " +
         std::to_string(others) + " more than " + std::to_string(behind_after_ms / 1000) + " s ago";
}
}  // namespace

std::optional<std::uint64_t> EndpointPool::Core::others_had(const Endpoint& but) const {
  std::optional<std::uint64_t> out;
  for (const auto& one : endpoints_) {
    if (one.get() == &but || one->health.state != EndpointState::usable) continue;
    const auto had = one->heads.a_while_ago(clock_.mono_ms());
    if (had && (!out || *had > *out)) out = had;
  }
  return out;
}

std::vector<bool> EndpointPool::Core::behind(const Voices& voices,
                                             const std::vector<HeadSeen>& heads) {
  std::vector<bool> out(voices.size(), false);
  const auto endpoint_of = [this](const Rpc* voice) -> Endpoint* {
    const auto hit =
        std::ranges::find_if(endpoints_, [&](const auto& one) { return one->side.get() == voice; });
    return hit == endpoints_.end() ? nullptr : hit->get();
  };
  std::vector<Endpoint*> whose;
  for (std::size_t i = 0; i < voices.size(); ++i) {
    whose.push_back(endpoint_of(voices[i]));
    if (whose.back() != nullptr) whose.back()->heads.note(heads[i].height, clock_.mono_ms());
  }
  std::vector<std::uint64_t> had(voices.size(), 0);
  for (std::size_t i = 0; i < voices.size(); ++i) {
    if (whose[i] == nullptr) continue;
    const auto others = others_had(*whose[i]);
    out[i] = is_behind(heads[i], others, clock_.wall_ms());
    had[i] = others.value_or(0);
  }
  if (std::ranges::find(out, false) == out.end()) out.assign(voices.size(), false);
  for (std::size_t i = 0; i < voices.size(); ++i) {
    if (out[i]) note(*whose[i], EndpointEvent::fell_behind, behind_text(heads[i].height, had[i]));
  }
  return out;
}

void EndpointPool::Core::judge_head(Endpoint& one, const Answer& answer) {
  if (event_of(answer, one.client->held_back_ms() > 0) == EndpointEvent::limited) {
    note(one, EndpointEvent::limited, answer.text());
    return;
  }
  const Read<Header> read =
      answer.ok() == nullptr ? Read<Header>(Unreadable{answer.text()}) : read_header(*answer.ok());
  if (!read) {
    note(one, EndpointEvent::probe_failed, read.error().why);
    return;
  }
  const auto others = others_had(one);
  if (is_behind({read->ref.height, read->time_s}, others, clock_.wall_ms())) {
    note(one, EndpointEvent::fell_behind, behind_text(read->ref.height, *others));
  } else {
    note(one, EndpointEvent::caught_up, {});
  }
}

// --- the watch over each endpoint's chain -----------------------------------------------------

bool EndpointPool::Core::any_probing() const {
  return std::ranges::any_of(endpoints_, [](const auto& one) { return one->probing; });
}

/// Starts what probes are due.
void EndpointPool::Core::tend() {
  if (closed_) return;
  const std::int64_t now_ms = clock_.mono_ms();
  const bool any_usable = !usable_now().empty();
  for (std::size_t place = 0; place < endpoints_.size(); ++place) {
    if (probe_is_due(at(place).health, now_ms, any_usable)) start_probe(place);
  }
}

void EndpointPool::Core::start_probe(std::size_t place) {
  if (at(place).probing || closed_) return;
  at(place).probing = true;
  spawn(probe(shared_from_this(), place));
}

asio::awaitable<void> EndpointPool::Core::probe(std::shared_ptr<Core> self, std::size_t place) {
  struct Ended {
    Core& core;
    Endpoint& one;
    ~Ended() {
      one.probing = false;
      if (core.closed_) return;
      one.probed.wake_all();
      core.changed_.wake_all();
    }
  } ended{*self, self->at(place)};
  Endpoint& one = ended.one;
  const std::uint64_t number = ++one.probes_begun;
  const std::uint64_t connections = one.client->connections();
  const Answer answer = co_await one.client->call(chain_id_method, {});
  if (self->closed_) co_return;
  const bool right = self->judge(one, answer, connections);
  if (right) one.proven_by = number;
  if (!right || one.health.state != EndpointState::behind) co_return;
  const Answer newest =
      co_await one.client->call("eth_getBlockByNumber", boost::json::array{"latest", false});
  if (!self->closed_) self->judge_head(one, newest);
}

asio::awaitable<void> EndpointPool::Core::wait_for_probe(std::shared_ptr<Core> self,
                                                         std::size_t place) {
  if (!self->at(place).probing) co_return;
  ports::Waiter waiter;
  co_await waiter.park(self->at(place).probed);
}

// A probe that is under way may have been put to the node that was there before; whoever comes
// while it is waits for the next one, which all of them share.
asio::awaitable<bool> EndpointPool::Core::proves_itself(std::shared_ptr<Core> self,
                                                        std::size_t place) {
  Endpoint& one = self->at(place);
  const std::uint64_t before = one.probes_begun;
  const std::uint64_t opened = one.client->connections();
  const std::uint64_t proven = one.proven_connections;
  co_await wait_for_probe(self, place);
  // Enough for a new connection, though not for a no that was heard in between.
  if (proven < opened && one.proven_connections >= opened) co_return true;
  self->start_probe(place);
  co_await wait_for_probe(self, place);
  co_return one.proven_by > before;
}

bool EndpointPool::Core::judge(Endpoint& one, const Answer& answer, std::uint64_t connections) {
  if (answer.ok() == nullptr) {
    const EndpointEvent event = event_of(answer, one.client->held_back_ms() > 0);
    const bool limited = event == EndpointEvent::limited;
    note(one, limited ? event : EndpointEvent::probe_failed, answer.text());
    return false;
  }
  const Read<std::uint64_t> id = read_number(*answer.ok(), "the chain id");
  if (!id) {
    note(one, EndpointEvent::probe_failed, id.error().why);
    return false;
  }
  if (*id != chain_) {
    note(one, EndpointEvent::wrong_chain,
         "it serves " + chain_text(*id) + ", the configuration says " + chain_text(chain_));
    return false;
  }
  one.proven_connections = std::max(one.proven_connections, connections);
  note(one, EndpointEvent::right_chain, {});
  return true;
}

void EndpointPool::Core::note(Endpoint& one, EndpointEvent event, std::string why) {
  const EndpointState before = one.health.state;
  one.health = after(one.health, event, clock_.mono_ms());
  const EndpointState now = one.health.state;
  const bool still_behind = event == EndpointEvent::fell_behind && now == EndpointState::behind;
  if (event == EndpointEvent::wrong_chain || still_behind || now != before)
    one.why = std::move(why);
  if (now != EndpointState::usable) one.heads.forget();
  if (now == before) return;
  const bool well = now == EndpointState::usable;
  (well ? log::info : log::warn)(well ? "endpoint_usable" : "endpoint_not_usable",
                                 {{"chain", chain_text(chain_)},
                                  {"endpoint", one.client->name()},
                                  {"state", to_text(now)},
                                  {"why", one.why}});
  changed_.wake_all();
}

}  // namespace holdfast::evm
