// Owns: the endpoints of one chain: who may answer, who is asked first, and the watch over which
// chain each of them serves.
// Must never: hand on an answer of an endpoint that serves another chain, or count a node's no
// against its health.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include <holdfast/ports/clock.hpp>

#include "evm/endpoint_health.hpp"
#include "evm/rpc.hpp"

namespace holdfast::evm {

struct PoolMember {
  std::unique_ptr<RpcClient> client;
  std::uint32_t weight = 1;  ///< the highest is asked first; among equals the first
};

/// One endpoint's part in it.
struct EndpointView {
  std::string name;
  EndpointHealth health;
  std::string why;  ///< a sentence unless it is usable
};

/// Used on its executor only. An endpoint is asked for its chain id before its first answer counts,
/// every 30 s, after a new connection, and after a no that speaks of a chain id. An answer over a
/// new connection, and such a no, wait for a question that was put after them; where that is not
/// answered they are `unknown`. The question need not travel over the very same connection: a URL
/// that leads to two chains at once is found by the thirty seconds alone. Who closes a connection
/// after each answer is asked as often as it answers. Probes run beside the calls and are started
/// by them: a pool that nobody asks does nothing.
class EndpointPool final : public Rpc {
 public:
  /// `chain` is the configured number (EIP-155). At least one member. `clock` outlives the pool.
  EndpointPool(boost::asio::any_io_executor executor, ports::Clock& clock, std::uint64_t chain,
               std::vector<PoolMember> members);
  /// As `close`. The executor must still be there.
  ~EndpointPool() override;
  EndpointPool(const EndpointPool&) = delete;
  EndpointPool& operator=(const EndpointPool&) = delete;

  /// The first answer of those who may be asked, in order of weight, those that are held back by a
  /// rate limit last. Who does not answer, or lacks the method, is passed over.
  boost::asio::awaitable<Answer> call(std::string method, boost::json::array params) override;
  boost::asio::awaitable<ports::Outcome<Voices>> voices() override;
  std::size_t configured() const override;
  boost::asio::awaitable<std::vector<Answer>> call_everywhere(std::string method,
                                                              boost::json::array params,
                                                              Enough enough) override;
  std::vector<bool> behind(const Voices& voices, const std::vector<HeadSeen>& heads) override;
  std::vector<std::string> endpoint_texts() const override;

  std::vector<EndpointView> endpoints() const;

  /// Drops whoever is waiting without resuming them, and closes the clients. For teardown.
  void close();

 private:
  class Core;
  class Side;
  struct Everybody;
  static boost::asio::awaitable<void> ask_one(std::shared_ptr<Everybody> all, std::size_t at,
                                              boost::asio::awaitable<Answer> asked, Enough enough);

  std::shared_ptr<Core> core_;
};

}  // namespace holdfast::evm
