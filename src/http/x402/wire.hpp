// Owns: reading the body of /verify and /settle, in both versions of the protocol, into one shape.
// Everything a stranger can send is a request or a reason with a sentence.
// Must never: judge a payment (rules.hpp does), or let a number, a time or an address pass that is
// not written as the protocol writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/domain/intent.hpp>

#include "http/x402/reasons.hpp"

namespace holdfast::http::x402 {

/// Bodies carry JSON schemas of extensions, so they may be deeper than ours.
inline constexpr std::size_t most_levels = 32;
inline constexpr std::size_t longest_network = 64;
/// With the code that makes a payer's wallet in it (EIP-6492).
inline constexpr std::size_t longest_signature = 16'384;
/// Chain seconds; the end of the year 9999. An engine multiplies them by a thousand.
inline constexpr std::uint64_t latest_time_s = 253'402'300'799;

/// What the seller asks for. Addresses as they came: "0x" and 40 hex digits.
struct Requirements {
  std::string scheme;
  std::string network;  ///< v1: a name, v2: CAIP-2
  domain::Amount amount;
  std::string asset;
  std::string pay_to;
  // of `extra`; empty where it does not say
  std::string name;
  std::string version;
  std::string transfer_method;
};

/// What the payer signed.
struct Payload {
  Transfer transfer = Transfer::eip3009;
  std::string from;
  std::string to;
  domain::Amount value;
  std::string token;    ///< Permit2 only
  std::string spender;  ///< Permit2 only
  /// The nonce of Permit2 is its number, big-endian; its deadline the window's end.
  domain::Authorization authorization;
};

struct Request {
  int version = 2;
  Requirements requirements;
  /// What the payload says it is for; v1 says scheme and network only.
  Requirements accepted;
  Payload payload;
  std::string payment_id;  ///< of the extension payment-identifier; empty: none
};

/// What every answer repeats, of a request that may be nonsense: bounded, else empty.
struct Echo {
  int version = 2;
  std::string network;
  std::string payer;
};

struct Read {
  Echo echo;
  Reason reason = Reason::none;  ///< none: `request` is whole
  std::string message;           ///< a sentence that names the field
  Request request;
};
Read read_body(std::string_view body);

}  // namespace holdfast::http::x402
