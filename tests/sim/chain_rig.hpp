// Owns: a simulated chain with one sending account, a payer and a payee, for tests of the chain.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <holdfast/domain/refs.hpp>

#include "sim/chain.hpp"
#include "sim/methods.hpp"
#include "sim/signer.hpp"
#include "sim/world.hpp"

namespace holdfast::testing {

struct ChainRig {
  sim::SimWorld world;
  sim::ScriptedChain chain;
  sim::ScriptedPayout payout{chain};
  sim::ScriptedAuthorization authorization{chain};
  domain::Address ours{"ours"};
  domain::Address payer{"payer"};
  domain::Address shop{"shop"};
  domain::AssetId token{"token"};

  explicit ChainRig(std::uint64_t seed = 0, sim::ScriptedChainOptions options = {})
      : world(seed), chain(world.clock(), std::move(options)) {
    chain.give(ours, domain::native_asset, U256(1'000'000'000'000));
    chain.give(ours, token, U256(1'000));
    chain.give(payer, token, U256(500));
  }

  domain::Intent intent(const std::string& key, std::uint64_t amount, bool bearer = false) const {
    domain::Intent out;
    out.terms = {chain.info().id,       token,
                 bearer ? payer : ours, shop,
                 U256(amount),          {bearer ? "transfer_authorization" : "payout"}};
    out.id = domain::derive_intent_id(domain::CallerId{"test"}, key);
    out.ref = domain::derive_ref(out.id, out.terms);
    out.bearer = bearer;
    const std::int64_t now_s = sim::SimClock::default_wall_ms / 1000;
    if (bearer) {
      out.validity = {now_s - 10, now_s + 3'600};
      out.authorization = sim::authorize(out);
    }
    return out;
  }
  ports::Call call(const domain::Intent& of) const {
    auto made = of.bearer ? authorization.call(of) : payout.call(of);
    REQUIRE(made.has_value());
    return *made;
  }
  ports::SignedTx sign(const ports::Order& order) const {
    auto sealed = chain.seal(order, sim::sign_as(order.sender, chain.digest(order)));
    REQUIRE(sealed.has_value());
    return *sealed;
  }
  ports::SignedTx sign(const ports::Call& what, std::uint64_t sequence,
                       std::uint64_t priority = 100) const {
    return sign({ours, {sequence}, what, {U256(2'000 + priority), U256(priority), 60'000}});
  }
  ports::Outcome<ports::Posted> post(const ports::SignedTx& tx) {
    return world.run(chain.post(tx.bytes, tx.hash));
  }
  ports::Whereabouts::Place place(const domain::TxHash& hash) {
    const auto found = world.run(chain.find(hash));
    REQUIRE(found.ok() != nullptr);
    return found.ok()->place;
  }
  ports::SequenceCounts counts(const domain::Address& account) {
    const auto counted = world.run(chain.sequences(account));
    REQUIRE(counted.ok() != nullptr);
    return *counted.ok();
  }
};

}  // namespace holdfast::testing
