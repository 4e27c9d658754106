// A real node, a client, a chain and its methods, and payments signed for them.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>

#include <doctest/doctest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <holdfast/domain/refs.hpp>

#include "evm/chain.hpp"
#include "evm/http_rpc.hpp"
#include "evm/methods/payout.hpp"
#include "evm/methods/permit2.hpp"
#include "evm/methods/transfer_authorization.hpp"
#include "evm/secp.hpp"
#include "support/anvil.hpp"
#include "support/timed_clock.hpp"

namespace holdfast::evm::test {

using holdfast::test::Anvil;
using holdfast::test::dev_accounts;
using holdfast::test::DevAccount;
using ports::Whereabouts;

class RealClock final : public tests::TimedClock {
 public:
  std::int64_t wall_ms() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  std::int64_t mono_ms() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

inline const DevAccount& payer = dev_accounts()[0];
inline const DevAccount& payee = dev_accounts()[1];
inline const DevAccount& sender = dev_accounts()[2];

inline Bytes sign_with(const DevAccount& account, const Digest& digest) {
  const auto key = SecretKey::parse(account.key);
  const auto bytes = signature_bytes(sign(Hash32{digest}, *key));
  return {bytes.begin(), bytes.end()};
}

/// A node, a client, a chain and both methods, all real.
struct Scene {
  Scene() {
    anvil.mint(token.value, payer.address, 10'000'000);
    anvil.mint(token.value, sender.address, 10'000'000);
  }

  template <class T>
  T run(boost::asio::awaitable<T> task) {
    std::optional<T> out;
    std::exception_ptr error;
    boost::asio::co_spawn(context, std::move(task), [&](std::exception_ptr thrown, T value) {
      error = thrown;
      if (!thrown) out.emplace(std::move(value));
    });
    // Not until there is no work: the client keeps connections open.
    while (!out && !error) {
      context.run_one();
      if (context.stopped()) context.restart();
    }
    if (error) std::rethrow_exception(error);
    return std::move(*out);
  }
  /// The value of a read that must succeed.
  template <class T>
  T read(boost::asio::awaitable<ports::Outcome<T>> task) {
    ports::Outcome<T> outcome = run(std::move(task));
    CAPTURE(outcome.text());
    REQUIRE(outcome.ok() != nullptr);
    return std::move(*outcome.ok());
  }

  domain::Intent intent(const domain::MethodName& method, const domain::AssetId& asset,
                        const DevAccount& from, std::uint64_t amount) {
    domain::Intent out;
    out.id.value[0] = ++intents_;
    out.bearer = method == transfer_authorization_name;
    out.terms = {.chain = chain.info().id,
                 .asset = asset,
                 .payer = {from.address},
                 .payee = {payee.address},
                 .amount = amount,
                 .method = method};
    out.ref = domain::derive_ref(out.id, out.terms);
    const std::int64_t now_s = read(chain.head()).latest_time_s;
    out.validity = {now_s - 60, now_s + 3600};
    return out;
  }

  domain::Intent signed_intent(std::uint64_t amount, std::int64_t valid_for_s = 3600) {
    domain::Intent out = intent(transfer_authorization_name, token, payer, amount);
    out.validity.before_s = out.validity.after_s + 60 + valid_for_s;
    const TransferAuthorization terms{
        .from = *Address20::from_text(payer.address),
        .to = *Address20::from_text(payee.address),
        .value = amount,
        .valid_after = static_cast<std::uint64_t>(out.validity.after_s),
        .valid_before = static_cast<std::uint64_t>(out.validity.before_s),
        .nonce = {out.ref.value}};
    out.authorization = domain::Authorization{
        .nonce = {out.ref.value},
        .validity = out.validity,
        .signature = sign_with(payer, authorization_digest(token_domain(), terms).value)};
    return out;
  }

  Domain token_domain() const {
    return {"Holdfast Token", "1", 31337, *Address20::from_text(token.value)};
  }

  /// Simulated, priced, signed and checked, as the engine does it.
  ports::SignedTx sealed(const ports::Call& call, std::uint64_t sequence) {
    const auto gas = read(chain.simulate({sender.address}, call)).gas;
    const ports::Order order{.sender = {sender.address},
                             .sequence = {sequence},
                             .call = call,
                             .fees = read(chain.quote(gas))};
    const auto out = chain.seal(order, sign_with(sender, chain.digest(order)));
    REQUIRE(out.has_value());
    return *out;
  }

  domain::MinedTx mined(const domain::TxHash& hash) {
    anvil.mine();
    const Whereabouts found = read(chain.find(hash));
    REQUIRE(found.place == Whereabouts::Place::mined);
    return *found.tx;
  }

  Anvil anvil;
  boost::asio::io_context context;
  RealClock clock;
  std::unique_ptr<HttpRpc> rpc =
      *HttpRpc::open(context.get_executor(), clock, {.url = anvil.url()});
  EvmChain chain{{.id = {"eip155:31337"}}, *rpc, clock};
  domain::AssetId token = *chain.parse_asset(anvil.deploy_token("Holdfast Token", "1"));
  TransferAuthorizationMethod bearer{{.assets = {{token, "Holdfast Token", "1"}}}, chain};
  Payout payout{{.assets = {token, domain::native_asset}}, chain};

 private:
  Byte intents_ = 0;
};

}  // namespace holdfast::evm::test
