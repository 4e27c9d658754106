// Owns: payments for a benchmark, all different by a number, and the six writes of their lives.
#pragma once

#include <cstdint>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <holdfast/store/store.hpp>

#include "store/writes.hpp"

namespace holdfast::bench {

/// The accounts that pay, taken over in the store.
struct Accounts {
  std::vector<domain::Address> addresses;
  std::vector<std::uint64_t> epochs;
};

/// Takes over `count` accounts.
boost::asio::awaitable<void> take_over(store::Store& store, std::size_t count, Accounts& out);

/// The payout of this number, authorized: its creation also makes its job.
store::NewIntent payout(std::uint64_t number, const domain::Address& from);

/// Drives payments from creation to settled until told to stop. Throws when a write is refused: the
/// measurement is of payments that went through.
class Payments {
 public:
  Payments(store::Store& store, const Accounts& accounts) : store_(store), accounts_(accounts) {}

  /// One payment after another; creates each, leases whichever job is oldest, drives that one.
  boost::asio::awaitable<void> run_line();
  boost::asio::awaitable<void> run_one();
  void stop() { stopped_ = true; }
  /// No more than these are begun.
  void end_after(std::uint64_t count) { most_ = count; }
  std::uint64_t settled() const { return settled_; }

 private:
  boost::asio::awaitable<void> create(std::uint64_t number);
  boost::asio::awaitable<store::Leased> lease(std::uint64_t number);
  boost::asio::awaitable<void> drive(store::Leased leased);

  store::Store& store_;
  const Accounts& accounts_;
  std::uint64_t started_ = 0;
  std::uint64_t settled_ = 0;
  std::uint64_t most_ = ~std::uint64_t{0};
  bool stopped_ = false;
};

}  // namespace holdfast::bench
