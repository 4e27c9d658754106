// Owns: a signer for simulated accounts, local or remote by choice.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include <holdfast/ports/signer.hpp>

#include "sim/script.hpp"

namespace holdfast::sim {

class ScriptedSigner final : public ports::Signer {
 public:
  explicit ScriptedSigner(std::vector<domain::Address> accounts, bool local = true)
      : accounts_(std::move(accounts)), local_(local) {}

  std::vector<domain::Address> accounts() const override { return accounts_; }
  bool local() const override { return local_; }
  boost::asio::awaitable<ports::Outcome<Bytes>> sign(domain::Address account,
                                                     Digest digest) override;

  /// The next call fails so, unsigned.
  void fail_next(Failure failure) { failures_.push_back(std::move(failure)); }
  /// From now on each call fails, unsigned.
  void set_down(bool down) { down_ = down; }
  std::uint64_t signatures() const { return signatures_; }

 private:
  std::vector<domain::Address> accounts_;
  bool local_;
  std::deque<Failure> failures_;
  bool down_ = false;
  std::uint64_t signatures_ = 0;
};

}  // namespace holdfast::sim
