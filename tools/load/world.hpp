// Owns: the chain of a run, whichever it is, with what speaks to it and what it counted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <holdfast/ports/chain.hpp>
#include <holdfast/ports/clock.hpp>

#include "books.hpp"
#include "evm/chain.hpp"
#include "options.hpp"
#include "signer_notes.hpp"

namespace holdfast::load {

class World {
 public:
  virtual ~World() = default;

  /// What the engine is given.
  virtual ports::Chain& chain() = 0;
  /// For payment methods.
  virtual evm::EvmChain& shape() = 0;
  virtual std::uint64_t calls() const = 0;     ///< JSON-RPC calls, or what would be
  virtual std::uint64_t requests() const = 0;  ///< HTTP requests that carried them
  virtual std::uint64_t faults() const = 0;    ///< posts that went wrong on purpose; once closed

  /// Before the engine starts: the accounts have money for gas. Throws runtime_error.
  virtual boost::asio::awaitable<void> prepare(std::vector<domain::Address> accounts);
  /// No blocks while held, and how many transactions wait for one. The null chain's alone.
  virtual void hold(bool) {}
  virtual std::size_t waiting() const { return 0; }

  /// After the engine's drain: what moved since `prepare`, from the chain's own books. Throws
  /// runtime_error when they cannot be read.
  virtual boost::asio::awaitable<std::vector<Moved>> close() = 0;
};

/// For chains of our own: who signed what, and the block that one goes on from; empty: it begins.
std::unique_ptr<World> make_world(const Options& options, boost::asio::any_io_executor executor,
                                  ports::Clock& clock, SignerNotes* notes = nullptr,
                                  const std::optional<domain::BlockRef>& first = {});

}  // namespace holdfast::load
