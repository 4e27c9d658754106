// Owns: the seller's side of x402 over an engine in the same process: what a 402 answer says, and
// what a payment header is worth.
// Must never: judge a payment by rules of its own. What a buyer sends goes the facilitator's way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <holdfast/engine/engine.hpp>
#include <holdfast/ports/clock.hpp>

namespace holdfast::http::x402 {

/// What a buyer pays with. Version 2 of the protocol, then version 1.
inline constexpr std::string_view payment_header = "PAYMENT-SIGNATURE";
inline constexpr std::string_view payment_header_v1 = "X-PAYMENT";
/// Bytes of that header's value that are read; a wallet's own code may be in it (EIP-6492). A
/// server's limit for its whole request head must be above it for such wallets to pay.
inline constexpr std::size_t longest_payment_header = 65'536;

/// One way to pay. Addresses are "0x" and 40 hex digits.
struct Price {
  std::string network;  ///< CAIP-2, "eip155:8453"
  std::string asset;
  std::string pay_to;
  domain::Amount amount;  ///< base units of the asset
  /// As the asset signs (EIP-712); EIP-3009 needs both.
  std::string name;
  std::string version;
  bool permit2 = false;  ///< by Permit2 (version 2 only) in place of EIP-3009
  /// How long from now a buyer's signature is to be good.
  std::int64_t max_timeout_s = 300;
};

/// What is sold. A payment buys one thing once; `url` says which.
struct Offer {
  std::string url;
  std::string description;
  std::string mime_type;
  std::vector<Price> prices;  ///< whichever of them the buyer likes
};

struct HeaderLine {
  std::string name;
  std::string value;
};

/// A 402 answer in both versions: its JSON body is version 1, the header version 2.
struct Demand {
  HeaderLine header;
  std::string body;
};

/// What a payment header came to.
struct Sale {
  /// paid: the money moved, and nobody else is told so: hand over what was sold, now.
  /// unpaid: ask for payment (402) again.
  /// open: it may have moved, or a node cannot be asked: the same header again, later (503). To
  /// ask for another payment now would charge twice.
  enum class End : std::uint8_t { paid, unpaid, open } end = End::unpaid;
  std::string reason;       ///< of the protocol; empty when paid
  std::string transaction;  ///< its hash as far as it is known
  std::string payer;
  HeaderLine header;  ///< PAYMENT-RESPONSE or X-PAYMENT-RESPONSE, for the answer to the buyer
  std::optional<domain::IntentId> success_of;  ///< for `Shop::delivered`
};

struct ShopOptions {
  /// Whose payments these are in the engine; a name that no API key has.
  std::string caller = "(shop)";
  /// The longest a sale waits for its payment.
  std::int64_t budget_ms = 75'000;
  /// Names of version 1 beside the known ones: {"my-net", "eip155:31337"}.
  std::vector<std::pair<std::string, std::string>> networks = {};
};

/// Lives on the engine's executor, as everything that awaits the engine's own functions: from
/// another one, use `Engine::call`. Executor, engine and clock outlive it, and it outlives its
/// sales.
class Shop {
 public:
  Shop(boost::asio::any_io_executor executor, engine::Engine& engine, ports::Clock& clock,
       ShopOptions options = {});
  ~Shop();
  Shop(const Shop&) = delete;
  Shop& operator=(const Shop&) = delete;

  /// `error`: a word of the protocol, for who paid badly. Pure; from any thread.
  Demand demand(const Offer& offer, std::string_view error = "") const;

  /// Would this header pay one of the offer's prices now? `paid` means that it would. Nothing is
  /// written; safe to repeat. Never `success_of`.
  boost::asio::awaitable<Sale> check(Offer offer, std::string header);
  /// Takes the payment, and waits until it is as deep as the chain's `answer_at`, or the budget is
  /// over. One payment is `paid` once: the same header again is unpaid as used, with its hash in
  /// `transaction`; unless the answer of the first was never written, or the buyer gave the payment
  /// an identifier (extension payment-identifier) and asks for the same offer's url. Safe to repeat
  /// while it is `open`.
  boost::asio::awaitable<Sale> sell(Offer offer, std::string header);
  /// Was the answer of this sale written? Call it after every sale that has `success_of`: what was
  /// not written is told to who asks next.
  boost::asio::awaitable<void> delivered(Sale sale, bool written);
  /// Sales that wait come to an end with what they have. Before the engine is drained.
  void stop();

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace holdfast::http::x402
