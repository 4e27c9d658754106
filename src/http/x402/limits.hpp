// Owns: how much one caller may ask of the facilitator: requests a second, gas a day.
// Must never: read a clock; times are given. Must never count one caller's use as another's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <holdfast/base/uint256.hpp>

namespace holdfast::http::x402 {

struct Rate {
  std::uint32_t per_s = 0;  ///< 0: no limit
  std::uint32_t burst = 1;
};
/// A token bucket, in thousandths of a request. A new one is full.
struct Bucket {
  std::int64_t left = -1;  ///< −1: new
  std::int64_t at_ms = 0;
};
/// Takes one request out; empty: taken. Otherwise in how many milliseconds the next one is there.
std::optional<std::int64_t> take(Bucket& bucket, const Rate& rate, std::int64_t now_ms);

/// Gas money by caller, chain and day. What is not known yet is held back: as much as the dearest
/// payment of that chain so far, at first a tenth of the day's, so that many at once cannot pass
/// the limit together.
class GasBudget {
 public:
  explicit GasBudget(std::optional<U256> per_day) : per_day_(per_day) {}

  bool limits() const { return per_day_.has_value(); }
  /// False: this caller's day is spent.
  bool has_room(const std::string& caller, const std::string& chain, std::int64_t wall_ms) const;
  /// What a payment of this chain is taken to cost as long as that is not known.
  U256 expected(const std::string& chain) const;
  /// One payment begins.
  void begin(const std::string& caller, const std::string& chain, std::int64_t wall_ms);
  /// Its transactions offer so much at most; zero: nothing was signed.
  void end(const std::string& caller, const std::string& chain, std::int64_t wall_ms,
           const U256& cost);

 private:
  struct Day {
    std::int64_t number = 0;
    U256 spent;
    std::uint64_t open = 0;
  };
  Day today(const std::string& caller, const std::string& chain, std::int64_t wall_ms) const;

  std::optional<U256> per_day_;
  std::map<std::pair<std::string, std::string>, Day> days_;  ///< by caller and chain
  std::map<std::string, U256> dearest_;                      ///< by chain
};

/// One payment's part of a budget, from before it is there until its transactions are known.
class GasHold {
 public:
  GasHold(GasBudget& budget, std::string caller, std::string chain, std::int64_t wall_ms)
      : budget_(budget), caller_(std::move(caller)), chain_(std::move(chain)), wall_ms_(wall_ms) {
    budget_.begin(caller_, chain_, wall_ms_);
  }
  ~GasHold() { budget_.end(caller_, chain_, wall_ms_, cost); }
  GasHold(const GasHold&) = delete;
  GasHold& operator=(const GasHold&) = delete;

  U256 cost;  ///< what it turned out to be

 private:
  GasBudget& budget_;
  std::string caller_;
  std::string chain_;
  std::int64_t wall_ms_;
};

class Limits {
 public:
  Limits(Rate rate, std::optional<U256> gas_per_day) : gas(gas_per_day), rate_(rate) {}

  /// As `take`, of this caller's bucket.
  std::optional<std::int64_t> take_request(const std::string& caller, std::int64_t now_ms) {
    if (rate_.per_s == 0) return std::nullopt;
    return take(buckets_[caller], rate_, now_ms);
  }

  GasBudget gas;

 private:
  Rate rate_;
  std::map<std::string, Bucket> buckets_;  ///< callers are keys of the store: there are few
};

}  // namespace holdfast::http::x402
