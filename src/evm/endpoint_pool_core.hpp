// Owns: what a pool's coroutines share: the endpoints, their health, who waits for them.
// Must never: hold a caller's frame but through lists that `close` drops.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <holdfast/ports/clock.hpp>
#include <holdfast/ports/parking.hpp>

#include "evm/endpoint_pool.hpp"

namespace holdfast::evm {

inline constexpr const char* chain_id_method = "eth_chainId";

/// `held_back`: the endpoint has asked for a pause, so what was not sent was not even tried.
EndpointEvent event_of(const Answer& answer, bool held_back);

/// One endpoint as somebody to be asked alone.
class EndpointPool::Side final : public Rpc {
 public:
  Side(Core& core, std::size_t place) : core_(core), place_(place) {}
  boost::asio::awaitable<Answer> call(std::string method, boost::json::array params) override;
  std::string label() const override;

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
    /// The client's count when the question was put that it last answered with its chain: what was
    /// opened later may lead to another node.
    std::uint64_t proven_connections = 0;
    bool probing = false;
    std::uint64_t probes_begun = 0;
    std::uint64_t proven_by = 0;  ///< the newest of those that named the right chain
    ports::WaitList probed;
    HeadsOfOne heads{};
  };

  Core(boost::asio::any_io_executor executor, ports::Clock& clock, std::uint64_t chain,
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
  static boost::asio::awaitable<Answer> ask(std::shared_ptr<Core> self, std::size_t place,
                                            std::string method, boost::json::array params);
  /// The places of those who may be asked, in order; waits while none is and a probe is under way.
  static boost::asio::awaitable<std::vector<std::size_t>> usable(std::shared_ptr<Core> self);
  /// `run` on the executor, ended by `close`.
  void spawn(boost::asio::awaitable<void> run);
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

  /// See Rpc::behind; those that are, are set aside.
  std::vector<bool> behind(const Voices& voices, const std::vector<HeadSeen>& heads);

  std::string nobody_text() const;
  std::string text_of(const Endpoint& one) const;
  Endpoint& at(std::size_t place) { return *endpoints_[place]; }
  const std::vector<std::unique_ptr<Endpoint>>& endpoints() const { return endpoints_; }

 private:
  std::vector<std::size_t> usable_now() const;
  bool any_probing() const;
  void tend();
  void start_probe(std::size_t place);
  static boost::asio::awaitable<void> probe(std::shared_ptr<Core> self, std::size_t place);
  static boost::asio::awaitable<void> wait_for_probe(std::shared_ptr<Core> self, std::size_t place);
  /// True once it has said, asked from now on, that it serves the configured chain.
  static boost::asio::awaitable<bool> proves_itself(std::shared_ptr<Core> self, std::size_t place);
  /// The answer to a question for its chain id that was put when it had `connections`. True: the
  /// right one.
  bool judge(Endpoint& one, const Answer& answer, std::uint64_t connections);
  void note(Endpoint& one, EndpointEvent event, std::string why);
  /// Of those that may be asked, but this one: the highest block that any had a while ago.
  std::optional<std::uint64_t> others_had(const Endpoint& but) const;
  /// Asked while it is behind; it has said which chain it serves.
  void judge_head(Endpoint& one, const Answer& answer);

  boost::asio::any_io_executor executor_;
  ports::Clock& clock_;
  std::uint64_t chain_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  ports::WaitList changed_;  ///< whoever waits for an endpoint that may be asked
  bool closed_ = false;
  std::uint64_t next_task_ = 1;
  std::map<std::uint64_t, std::shared_ptr<boost::asio::cancellation_signal>> tasks_;
  std::set<Everybody*> waited_for_;
};

}  // namespace holdfast::evm
