#include "evm/endpoint_pool.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <holdfast/base/ensure.hpp>

#include "evm/endpoint_pool_core.hpp"

namespace holdfast::evm {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

/// What is left is a broken environment, and whoever runs the executor must hear of it.
void rethrow_unless_cancelled(const std::exception_ptr& failure) {
  if (!failure) return;
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    if (error.code() != asio::error::operation_aborted) throw;
  }
}

/// A node says this of bytes for another chain than its own, among other things.
bool may_be_of_another_chain(const Answer& answer) {
  return answer.refused() != nullptr && answer.refused()->kind == ports::RefusalKind::malformed;
}

}  // namespace

// --- asking -----------------------------------------------------------------------------------

asio::awaitable<Answer> EndpointPool::Side::call(std::string method, json::array params) {
  return Core::ask(core_.shared_from_this(), place_, std::move(method), std::move(params));
}

std::string EndpointPool::Side::label() const { return core_.at(place_).client->name(); }

asio::awaitable<Answer> EndpointPool::Core::ask(std::shared_ptr<Core> self, std::size_t place,
                                                std::string method, json::array params) {
  Endpoint& one = self->at(place);
  const bool asks_for_id = method == chain_id_method;
  const std::uint64_t connections = one.client->connections();
  Answer answer = co_await one.client->call(std::move(method), std::move(params));
  if (self->closed_) co_return answer;
  const EndpointEvent event = event_of(answer, one.client->held_back_ms() > 0);
  bool proven = true;
  if (asks_for_id) {
    if (answer.ok() != nullptr) self->judge(one, answer, connections);
  } else if (event == EndpointEvent::answered) {
    const bool anew = one.client->connections() > one.proven_connections;
    if (anew || may_be_of_another_chain(answer)) proven = co_await proves_itself(self, place);
    if (self->closed_) co_return answer;
  }
  // What does not count forgives nothing: who answers all but the question for its chain is set
  // aside in the end.
  if (proven) self->note(one, event, answer.text());
  const bool says_something = answer.ok() != nullptr || answer.refused() != nullptr;
  if (says_something && one.health.state == EndpointState::quarantined) {
    co_return ports::Unknown{self->text_of(one), false, true};
  }
  if (says_something && !proven) {
    co_return ports::Unknown{
        one.client->name() +
            ": asked which chain it serves before its answer counts, it did not say",
        false, true};
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
  std::vector<Answer> out;
  if (places.empty()) {
    out.emplace_back(ports::NotSent{core->nobody_text()});
    co_return out;
  }
  // Who is alone is not held up by anybody: asked in the caller's own frame.
  if (places.size() == 1) {
    out.push_back(co_await Core::ask(core, places.front(), std::move(method), std::move(params)));
    co_return out;
  }
  const auto all = std::make_shared<Everybody>();
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

std::vector<bool> EndpointPool::behind(const Voices& voices, const std::vector<HeadSeen>& heads) {
  return core_->behind(voices, heads);
}

std::size_t EndpointPool::configured() const {
  const auto& all = core_->endpoints();
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const auto& one) {
    return one->health.state != EndpointState::quarantined;
  }));
}

std::vector<std::string> EndpointPool::endpoint_texts() const {
  std::vector<std::string> out;
  for (const auto& one : core_->endpoints()) out.push_back(core_->text_of(*one));
  return out;
}

}  // namespace holdfast::evm
