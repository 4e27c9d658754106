// Owns: the one call the EVM chain makes: a JSON-RPC method with parameters, answered or not; and
// who there is to answer it.
// Must never: let a URL with credentials, or a node's raw text, out of this wing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <holdfast/ports/outcome.hpp>

#include "evm/endpoint_heads.hpp"

namespace holdfast::evm {

using Answer = ports::Outcome<boost::json::value>;

class Rpc;
/// Those who may be asked now, the preferred first.
using Voices = std::vector<Rpc*>;
/// Of an answer: nobody else needs to be waited for.
using Enough = std::function<bool(const Answer&)>;

class Rpc {
 public:
  virtual ~Rpc() = default;

  /// `ok` is the member "result" (null included). `refused` is the node's own error object, its
  /// kind from the catalogue (node_errors.hpp), its message bounded and cleaned. `not_sent` when
  /// the request provably never left; everything else is `unknown`.
  virtual boost::asio::awaitable<Answer> call(std::string method, boost::json::array params) = 0;

  /// Everybody whose word counts now, each to be asked alone: what one says fits together, and what
  /// several say can be compared. They live as long as this does. Never an empty list: `not_sent`
  /// with a sentence when nobody may be asked. Waits for those that were never asked who they are.
  virtual boost::asio::awaitable<ports::Outcome<Voices>> voices();

  /// How many are configured for this chain, whether they may be asked now or not. One that is
  /// found to serve another chain is none of them.
  virtual std::size_t configured() const { return 1; }
  /// For sentences; empty where there is nobody to tell apart.
  virtual std::string label() const { return {}; }

  /// The same call to everybody whose word counts, side by side. Returns when all have answered, or
  /// with the first answer that is `enough`: the others are then sent all the same, and what they
  /// answer is thrown away. At least one answer. Only for what is safe to repeat.
  virtual boost::asio::awaitable<std::vector<Answer>> call_everywhere(std::string method,
                                                                      boost::json::array params,
                                                                      Enough enough);

  /// Told what the newest blocks of `voices` are, one each: who of them is behind the others for so
  /// long that its word must not hold the chain back. Never all of them.
  virtual std::vector<bool> behind(const Voices& voices, const std::vector<HeadSeen>& heads);

  /// For operators, one sentence each: host, state, and why. Empty where there is nothing to tell.
  virtual std::vector<std::string> endpoint_texts() const { return {}; }
};

/// One endpoint's client, as a pool of them sees it.
class RpcClient : public Rpc {
 public:
  /// scheme://host:port, all of its URL that may ever be shown.
  virtual const std::string& name() const = 0;
  /// Opened since the start. Another number: what answers may be another node than before.
  virtual std::uint64_t connections() const = 0;
  /// How much longer the endpoint wants to be left alone, in ms; 0 when it does not.
  virtual std::int64_t held_back_ms() const = 0;
  /// Drops whoever is waiting without resuming them. For teardown.
  virtual void close() = 0;
};

}  // namespace holdfast::evm
