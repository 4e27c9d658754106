// Owns: what an x402 seller sends for its buyer: one purchase, signed by the payer, as a body of
// /verify and /settle, and what a case wants to know of the answers.
// Must never: share code with the reading of those bodies.
#pragma once

#include <cstdint>
#include <string>

#include <boost/json/object.hpp>

#include "evm/eip3009.hpp"
#include "rig.hpp"

namespace holdfast::cases {

/// Of configuration: [x402] with these lines.
std::string x402_table(const std::string& lines = "");

/// One purchase, before it is signed: a case changes what it likes.
struct Purchase {
  /// Of the rig's token, by its payer, for its merchant, from now for five minutes. Its nonce is
  /// its own.
  explicit Purchase(const Rig& rig);

  int version = 2;
  std::string scheme = "exact";
  std::string network = "eip155:31337";
  std::string pay_to;
  std::string amount = "1000000";
  std::string asset;
  json::object extra;

  // what the payload says it accepted, where that is not the above
  json::object accepted_otherwise = {};
  json::object extensions = {};

  // what is signed, under which domain and by whom
  evm::TransferAuthorization terms = {};
  evm::Domain domain = {};
  Person payer = {};
  Bytes signature = {};  ///< empty: the payer's own
  std::string from = {};  ///< as it is written; empty: EIP-55

  Bytes signed_now() const;
  std::string hex_nonce() const { return terms.nonce.hex(); }
  json::object requirements() const;
  std::string body() const;
  /// The call of the token that runs it, for anybody.
  Bytes call_data() const;
};

Answer verify(Rig& rig, const Purchase& purchase, const std::string& token = "");
Answer settle(Rig& rig, const Purchase& purchase, const std::string& key = "",
              const std::string& token = "");
bool is_success(const Answer& answer);
bool is_valid(const Answer& answer);
/// "errorReason" or "invalidReason"; empty when there is none.
std::string reason_of(const Answer& answer);
std::string hash_of(const Answer& answer);

/// An address that is nobody's.
inline const std::string elsewhere = "0x00000000000000000000000000000000000000AA";
std::string lowered(std::string text);

/// The facilitator with these lines more, and a block every second.
Options settling(const std::string& lines = "");
/// Asks verify and settle, which must say the same; whether it was taken.
bool agreed(Rig& rig, const Purchase& purchase);
/// None of what was sent reverted.
void check_none_reverted(const Rig& rig);
/// Nothing was begun: no payment, no number, no hold, no transaction.
void check_nothing_begun(const Rig& rig);

/// Mines a block at a time until nothing in the store is open.
bool all_ended(Rig& rig, std::int64_t ms = 20'000);
std::int64_t open_payments(const Rig& rig);
/// Waits until so many raw transactions have passed the proxy.
bool sent(const Rig& rig, std::size_t count, std::int64_t ms = 10'000);

}  // namespace holdfast::cases
