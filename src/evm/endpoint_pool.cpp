#include "evm/endpoint_pool.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <holdfast/base/ensure.hpp>
#include <holdfast/base/log.hpp>
#include <holdfast/ports/parking.hpp>

#include "evm/node_errors.hpp"
#include "evm/wire.hpp"

namespace holdfast::evm {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

constexpr const char* chain_id_method = "eth_chainId";

std::string chain_text(std::uint64_t number) { return "eip155:" + std::to_string(number); }

/// What is left is a broken environment, and whoever runs the executor must hear of it.
void rethrow_unless_cancelled(const std::exception_ptr& failure) {
  if (!failure) return;
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    if (error.code() != asio::error::operation_aborted) throw;
  }
}

EndpointEvent event_of(const Answer& answer, bool held_back) {
  if (answer.not_sent() != nullptr) {
    return held_back ? EndpointEvent::limited : EndpointEvent::failed;
  }
  const ports::Unknown* lost = answer.unknown();
  if (lost == nullptr) return EndpointEvent::answered;
  if (lost->rate_limited) return EndpointEvent::limited;
  return lost->answered ? EndpointEvent::answered : EndpointEvent::failed;
}

/// A node says this of bytes for another chain than its own, among other things.
bool may_be_of_another_chain(const Answer& answer) {
  return answer.refused() != nullptr && answer.refused()->kind == ports::RefusalKind::malformed;
}

}  // namespace

/// One endpoint as somebody to be asked alone.
class EndpointPool::Side final : public Rpc {
 public:
  Side(Core& core, std::size_t place) : core_(core), place_(place) {}
  asio::awaitable<Answer> call(std::string method, json::array params) override;

 private:
  Core& core_;
  std::size_t place_;
};

/// What everybody has said so far. Shared by those who ask and whoever waits for them.
struct EndpointPool::Everybody {
  std::vector<Answer> answers;
  std::size_t ended = 0;
  bool enough = false;
  ports::WaitList changed;
};

/// Kept alive by its own coroutines, so the pool may go before them.
class EndpointPool::Core : public std::enable_shared_from_this<Core> {
 public:
  struct Endpoint {
    std::unique_ptr<RpcClient> client;
    std::uint32_t weight = 1;
    std::unique_ptr<Side> side;
    EndpointHealth health{};
    std::string why = "not asked yet";
    std::uint64_t proven_connections = 0;  ///< the client's count when its chain was last asked for
    bool probing = false;
    ports::WaitList probed;
  };

  Core(asio::any_io_executor executor, ports::Clock& clock, std::uint64_t chain,
       std::vector<PoolMember> members)
      : executor_(std::move(executor)), clock_(clock), chain_(chain) {
    for (std::size_t place = 0; place < members.size(); ++place) {
      auto& one = endpoints_.emplace_back(std::make_unique<Endpoint>());
      one->client = std::move(members[place].client);
      one->weight = members[place].weight;
      one->side = std::make_unique<Side>(*this, place);
    }
  }

  /// One endpoint's answer, once it is sure that it is this chain's.
  static asio::awaitable<Answer> ask(std::shared_ptr<Core> self, std::size_t place,
                                     std::string method, json::array params);
  /// The places of those who may be asked, in order; waits while none is and a probe is under way.
  static asio::awaitable<std::vector<std::size_t>> usable(std::shared_ptr<Core> self);
  /// `run` on the executor, ended by `close`.
  void spawn(asio::awaitable<void> run);
  void close();

  /// Whoever waits for everybody: `close` drops them.
  struct Waiting {
    Waiting(std::shared_ptr<Core> owner, Everybody& of) : core(std::move(owner)), all(of) {
      core->waited_for_.insert(&all);
    }
    ~Waiting() { core->waited_for_.erase(&all); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    std::shared_ptr<Core> core;
    Everybody& all;
  };

  std::string nobody_text() const;
  std::string text_of(const Endpoint& one) const;
  Endpoint& at(std::size_t place) { return *endpoints_[place]; }
  const std::vector<std::unique_ptr<Endpoint>>& endpoints() const { return endpoints_; }

 private:
  std::vector<std::size_t> usable_now() const;
  bool any_probing() const;
  void tend();
  void start_probe(std::size_t place);
  static asio::awaitable<void> probe(std::shared_ptr<Core> self, std::size_t place);
  static asio::awaitable<void> probe_and_wait(std::shared_ptr<Core> self, std::size_t place);
  void judge(Endpoint& one, const Answer& answer);
  void note(Endpoint& one, EndpointEvent event, std::string why);

  asio::any_io_executor executor_;
  ports::Clock& clock_;
  std::uint64_t chain_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  ports::WaitList changed_;  ///< whoever waits for an endpoint that may be asked
  bool closed_ = false;
  std::uint64_t next_task_ = 1;
  std::map<std::uint64_t, std::shared_ptr<asio::cancellation_signal>> tasks_;
  std::set<Everybody*> waited_for_;
};

// --- asking -----------------------------------------------------------------------------------

asio::awaitable<Answer> EndpointPool::Side::call(std::string method, json::array params) {
  return Core::ask(core_.shared_from_this(), place_, std::move(method), std::move(params));
}

asio::awaitable<Answer> EndpointPool::Core::ask(std::shared_ptr<Core> self, std::size_t place,
                                                std::string method, json::array params) {
  Endpoint& one = self->at(place);
  const bool asks_for_id = method == chain_id_method;
  Answer answer = co_await one.client->call(std::move(method), std::move(params));
  if (self->closed_) co_return answer;
  const EndpointEvent event = event_of(answer, one.client->held_back_ms() > 0);
  self->note(one, event, answer.text());
  if (asks_for_id) {
    if (answer.ok() != nullptr) self->judge(one, answer);
  } else if (event == EndpointEvent::answered) {
    const bool reconnected = one.client->connections() != one.proven_connections &&
                             self->clock_.mono_ms() - one.health.probed_ms >= reconnect_probe_ms;
    if (reconnected || may_be_of_another_chain(answer)) co_await probe_and_wait(self, place);
  }
  const bool says_something = answer.ok() != nullptr || answer.refused() != nullptr;
  if (says_something && one.health.state == EndpointState::quarantined) {
    co_return ports::Unknown{self->text_of(one), false, true};
  }
  co_return answer;
}

asio::awaitable<std::vector<std::size_t>> EndpointPool::Core::usable(std::shared_ptr<Core> self) {
  self->tend();
  std::vector<std::size_t> places = self->usable_now();
  while (places.empty() && self->any_probing() && !self->closed_) {
    ports::Waiter waiter;
    co_await waiter.park(self->changed_);
    places = self->usable_now();
  }
  co_return places;
}

std::vector<std::size_t> EndpointPool::Core::usable_now() const {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < endpoints_.size(); ++place) {
    if (endpoints_[place]->health.state == EndpointState::usable) places.push_back(place);
  }
  std::ranges::sort(places, {}, [this](std::size_t place) {
    const Endpoint& one = *endpoints_[place];
    return std::tuple(one.client->held_back_ms() > 0, -std::int64_t{one.weight}, place);
  });
  return places;
}

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
  const Answer answer = co_await one.client->call(chain_id_method, {});
  if (!self->closed_) self->judge(one, answer);
}

asio::awaitable<void> EndpointPool::Core::probe_and_wait(std::shared_ptr<Core> self,
                                                         std::size_t place) {
  self->start_probe(place);
  if (!self->at(place).probing) co_return;
  ports::Waiter waiter;
  co_await waiter.park(self->at(place).probed);
}

void EndpointPool::Core::judge(Endpoint& one, const Answer& answer) {
  if (answer.ok() == nullptr) {
    const EndpointEvent event = event_of(answer, one.client->held_back_ms() > 0);
    const bool limited = event == EndpointEvent::limited;
    note(one, limited ? event : EndpointEvent::probe_failed, answer.text());
    return;
  }
  const Read<std::uint64_t> id = read_number(*answer.ok(), "the chain id");
  if (!id) {
    note(one, EndpointEvent::probe_failed, id.error().why);
  } else if (*id == chain_) {
    one.proven_connections = one.client->connections();
    note(one, EndpointEvent::right_chain, {});
  } else {
    note(one, EndpointEvent::wrong_chain,
         "it serves " + chain_text(*id) + ", the configuration says " + chain_text(chain_));
  }
}

void EndpointPool::Core::note(Endpoint& one, EndpointEvent event, std::string why) {
  const EndpointState before = one.health.state;
  one.health = after(one.health, event, clock_.mono_ms());
  const EndpointState now = one.health.state;
  if (event == EndpointEvent::wrong_chain || now != before) one.why = std::move(why);
  if (now == before) return;
  const bool well = now == EndpointState::usable;
  (well ? log::info : log::warn)(well ? "endpoint_usable" : "endpoint_not_usable",
                                 {{"chain", chain_text(chain_)},
                                  {"endpoint", one.client->name()},
                                  {"state", to_text(now)},
                                  {"why", one.why}});
  changed_.wake_all();
}

// --- tasks of its own -------------------------------------------------------------------------

void EndpointPool::Core::spawn(asio::awaitable<void> run) {
  const std::uint64_t number = next_task_++;
  auto signal = std::make_shared<asio::cancellation_signal>();
  tasks_.emplace(number, signal);
  asio::co_spawn(executor_, std::move(run),
                 asio::bind_cancellation_slot(signal->slot(), [self = shared_from_this(), number,
                                                               signal](std::exception_ptr failure) {
                   self->tasks_.erase(number);
                   rethrow_unless_cancelled(failure);
                 }));
}

void EndpointPool::Core::close() {
  if (closed_) return;
  closed_ = true;
  const auto keep = shared_from_this();  // the last frame to go may hold the last reference
  const auto tasks = tasks_;  // ending one takes it out of the map
  for (const auto& [number, signal] : tasks) signal->emit(asio::cancellation_type::terminal);
  for (const auto& one : endpoints_) {
    one->client->close();
    one->probed.abandon();
  }
  for (Everybody* all : waited_for_) all->changed.abandon();
  changed_.abandon();
}

// --- the pool ---------------------------------------------------------------------------------

EndpointPool::EndpointPool(asio::any_io_executor executor, ports::Clock& clock, std::uint64_t chain,
                           std::vector<PoolMember> members)
    : core_(std::make_shared<Core>(std::move(executor), clock, chain, std::move(members))) {
  ensure(!core_->endpoints().empty(), "a chain without an endpoint");
}

EndpointPool::~EndpointPool() { core_->close(); }
void EndpointPool::close() { core_->close(); }

asio::awaitable<Answer> EndpointPool::call(std::string method, json::array params) {
  const auto core = core_;
  const std::vector<std::size_t> places = co_await Core::usable(core);
  std::optional<Answer> failed;
  for (const std::size_t place : places) {
    Answer answer = co_await Core::ask(core, place, method, params);
    const ports::Refused* refused = answer.refused();
    const bool lacks = refused != nullptr && refused->kind == ports::RefusalKind::no_such_method;
    if (answer.ok() != nullptr || (refused != nullptr && !lacks)) co_return answer;
    // An unknown weighs more than a call that never left.
    if (!failed || (failed->not_sent() != nullptr && answer.not_sent() == nullptr)) {
      failed = std::move(answer);
    }
  }
  if (failed) co_return std::move(*failed);
  co_return ports::NotSent{core->nobody_text()};
}

asio::awaitable<ports::Outcome<Voices>> EndpointPool::voices() {
  const auto core = core_;
  const std::vector<std::size_t> places = co_await Core::usable(core);
  if (places.empty()) co_return ports::NotSent{core->nobody_text()};
  Voices out;
  out.reserve(places.size());
  for (const std::size_t place : places) out.push_back(core->at(place).side.get());
  co_return out;
}

asio::awaitable<void> EndpointPool::ask_one(std::shared_ptr<Everybody> all, std::size_t at,
                                            asio::awaitable<Answer> asked, Enough enough) {
  all->answers[at] = co_await std::move(asked);
  ++all->ended;
  if (enough(all->answers[at])) all->enough = true;
  all->changed.wake_all();
}

asio::awaitable<std::vector<Answer>> EndpointPool::call_everywhere(std::string method,
                                                                   json::array params,
                                                                   Enough enough) {
  const auto core = core_;
  const std::vector<std::size_t> places = co_await Core::usable(core);
  const auto all = std::make_shared<Everybody>();
  if (places.empty()) {
    all->answers.emplace_back(ports::NotSent{core->nobody_text()});
    co_return std::move(all->answers);
  }
  all->answers.resize(places.size(), ports::Unknown{"not waited for", false});
  for (std::size_t at = 0; at < places.size(); ++at) {
    core->spawn(ask_one(all, at, Core::ask(core, places[at], method, params), enough));
  }
  const Core::Waiting waiting(core, *all);
  while (!all->enough && all->ended < places.size()) {
    ports::Waiter waiter;
    co_await waiter.park(all->changed);
  }
  co_return all->answers;
}

std::vector<EndpointView> EndpointPool::endpoints() const {
  std::vector<EndpointView> out;
  for (const auto& one : core_->endpoints()) {
    out.push_back({one->client->name(), one->health, one->why});
  }
  return out;
}

std::vector<std::string> EndpointPool::endpoint_texts() const {
  std::vector<std::string> out;
  for (const auto& one : core_->endpoints()) out.push_back(core_->text_of(*one));
  return out;
}

}  // namespace holdfast::evm
