// The EVM chain and its methods against a real node, over the real client.
#include "interop/evm_scene.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;
using domain::AuthorizationSeen;
using ports::RefusalKind;

TEST_CASE("anvil: the chain is recognised, its head read, and another chain's id refused") {
  Scene scene;
  CHECK(scene.read(scene.chain.check()));
  scene.anvil.mine(5);
  const ports::Head head = scene.read(scene.chain.head());
  CHECK(head.latest.height >= 5);
  // A block may come between two reads of one batch.
  CHECK(head.finalized.height + 2 >= head.latest.height);
  CHECK(head.finalized.height < head.latest.height);
  // "safe" is asked for where a rule names it, and taken to be the final block elsewhere.
  CHECK(head.safe_height == head.finalized.height);
  EvmChain by_safe({.id = {"eip155:31337"}, .answer_at = {domain::FinalityTag::safe, 1}},
                   *scene.rpc, scene.clock);
  const ports::Head safe = scene.read(by_safe.head());
  CHECK(safe.safe_height > safe.finalized.height);
  CHECK(scene.read(scene.chain.final_block()).ref.height >= head.finalized.height);
  const auto block = scene.read(scene.chain.block(2));
  REQUIRE(block);
  CHECK(block->parent == *scene.read(scene.chain.block_hash(1)));
  CHECK_FALSE(scene.read(scene.chain.block(1'000'000)));
  EvmChain other({.id = {"eip155:1"}}, *scene.rpc, scene.clock);
  const auto refused = scene.run(other.check());
  REQUIRE(refused.refused() != nullptr);
  CHECK(refused.refused()->message ==
        "the node serves eip155:31337, the configuration says eip155:1");
}

TEST_CASE("anvil: an authorization is verified, submitted, found, and seen to be used") {
  Scene scene;
  const domain::Intent intent = scene.signed_intent(1'000'000);
  const ports::Moment now{intent.validity.after_s + 60, intent.validity.after_s + 60};
  const auto verdict = scene.run(scene.bearer.verify(intent, *intent.authorization, now));
  CHECK(verdict.has_value());
  scene.anvil.mine(3);
  const AuthorizationSeen before = scene.run(scene.bearer.read_authorization(intent));
  CHECK(before.result == AuthorizationSeen::Result::unused);
  CHECK(before.unused_at_final_s);

  const auto call = scene.bearer.call(intent);
  REQUIRE(call.has_value());
  const ports::SignedTx tx = scene.sealed(*call, 0);
  CHECK(scene.read(scene.chain.find(tx.hash)).place == Whereabouts::Place::not_found);
  CHECK_FALSE(scene.read(scene.chain.post(tx.bytes, tx.hash)).already_known);
  const domain::MinedTx mined = scene.mined(tx.hash);
  CHECK(mined.succeeded);
  CHECK(mined.sender.value == sender.address);
  CHECK_FALSE(mined.fee_paid.is_zero());
  CHECK(scene.bearer.evidence(intent, mined, true).moved == domain::Moved::exact);
  CHECK(scene.bearer.evidence(intent, mined, true).arrived == U256(1'000'000));
  CHECK(scene.anvil.token_balance(scene.token.value, payee.address) == 1'000'000);

  const auto block = scene.read(scene.chain.block(mined.block.height));
  REQUIRE(block);
  REQUIRE(block->txs.size() == 1);
  CHECK(block->txs[0].hash == tx.hash);
  CHECK(block->txs[0].authorizations.size() == 1);

  scene.anvil.mine(4);
  const AuthorizationSeen used = scene.run(scene.bearer.read_authorization(intent));
  CHECK(used.result == AuthorizationSeen::Result::used_exactly);
  REQUIRE(used.tx);
  CHECK(used.tx->hash == tx.hash);
  CHECK(used.is_final);
  const auto consumer = scene.read(scene.chain.consumer({sender.address}, {0}));
  REQUIRE(consumer);
  CHECK(consumer->hash == tx.hash);
  CHECK_FALSE(scene.read(scene.chain.consumer({sender.address}, {1})));
  const auto counts = scene.read(scene.chain.sequences({sender.address}));
  CHECK(counts.latest.value == 1);
  CHECK(counts.pending.value == 1);
  CHECK(counts.finalized.value == 1);

  // The same bytes once more, and the same authorization in other bytes.
  const auto again = scene.run(scene.chain.post(tx.bytes, tx.hash));
  REQUIRE(again.refused() != nullptr);
  CHECK(again.refused()->kind == RefusalKind::nonce_too_low);
  const auto simulated = scene.run(scene.chain.simulate({sender.address}, *call));
  REQUIRE(simulated.refused() != nullptr);
  CHECK(simulated.refused()->kind == RefusalKind::reverted);
  CHECK(simulated.refused()->message.find("authorization is used or canceled") !=
        std::string::npos);
}

TEST_CASE("anvil: a canceled authorization is seen as canceled") {
  Scene scene;
  const domain::Intent intent = scene.signed_intent(5);
  const CancelAuthorization cancel{.authorizer = *Address20::from_text(payer.address),
                                   .nonce = {intent.ref.value}};
  const auto signature =
      parse_signature(sign_with(payer, authorization_digest(scene.token_domain(), cancel).value));
  scene.anvil.send(payee.address, scene.token.value,
                   to_0x(encode_cancel_authorization(cancel, *signature)));
  const AuthorizationSeen seen = scene.run(scene.bearer.read_authorization(intent));
  CHECK(seen.result == AuthorizationSeen::Result::canceled);
  CHECK(seen.tx);
}

TEST_CASE("anvil: payouts of a token and of native money move, and carry their ref") {
  Scene scene;
  const auto native_before = scene.read(scene.chain.native_balance({payee.address}));
  std::uint64_t sequence = 0;
  for (const domain::AssetId& asset : {scene.token, domain::native_asset}) {
    const domain::Intent intent = scene.intent(payout_name, asset, sender, 7'000);
    const auto call = scene.payout.call(intent);
    REQUIRE(call.has_value());
    const ports::SignedTx tx = scene.sealed(*call, sequence++);
    scene.read(scene.chain.post(tx.bytes, tx.hash));
    const domain::MinedTx mined = scene.mined(tx.hash);
    CHECK(mined.trailing_ref == intent.ref);
    CHECK(scene.payout.evidence(intent, mined, false).moved == domain::Moved::exact);
  }
  CHECK(scene.anvil.token_balance(scene.token.value, payee.address) == 7'000);
  CHECK(scene.read(scene.chain.native_balance({payee.address})) == native_before.plus(7'000));
}

TEST_CASE("anvil: what the node refuses is told by kind") {
  Scene scene;
  const domain::Intent intent = scene.intent(payout_name, scene.token, sender, 7'000);
  const auto call = *scene.payout.call(intent);
  scene.anvil.call("evm_setAutomine", boost::json::array{false});
  scene.anvil.call("evm_setIntervalMining", boost::json::array{0});
  const ports::SignedTx tx = scene.sealed(call, 0);
  CHECK_FALSE(scene.read(scene.chain.post(tx.bytes, tx.hash)).already_known);
  CHECK(scene.read(scene.chain.find(tx.hash)).place == Whereabouts::Place::pending);
  CHECK(scene.read(scene.chain.post(tx.bytes, tx.hash)).already_known);
  CHECK(scene.read(scene.chain.sequences({sender.address})).pending.value == 1);

  // The same number for other bytes, at the same price.
  const ports::SignedTx other = scene.sealed(scene.chain.noop_call({sender.address}), 0);
  const auto refused = scene.run(scene.chain.post(other.bytes, other.hash));
  REQUIRE(refused.refused() != nullptr);
  CHECK(refused.refused()->kind == RefusalKind::replacement_underpriced);

  // Too little of the token, and too little native money.
  const auto poor = *scene.payout.call(scene.intent(payout_name, scene.token, sender, 10'000'001));
  const auto reverted = scene.run(scene.chain.simulate({sender.address}, poor));
  REQUIRE(reverted.refused() != nullptr);
  CHECK(reverted.refused()->kind == RefusalKind::reverted);
  CHECK(reverted.refused()->message.find("transfer amount exceeds balance") != std::string::npos);
  domain::Intent rich = scene.intent(payout_name, domain::native_asset, sender, 1);
  rich.terms.amount = *U256::from_decimal("1" + std::string(30, '0'));
  const auto unfunded = scene.run(scene.chain.simulate({sender.address}, *scene.payout.call(rich)));
  CAPTURE(unfunded.text());
  REQUIRE(unfunded.refused() != nullptr);
  CHECK(unfunded.refused()->kind == RefusalKind::unfunded);
}

TEST_CASE("anvil: a token whose domain is not the configured one is not trusted") {
  Scene scene;
  TransferAuthorizationMethod wrong{{.assets = {{scene.token, "Holdfast Token", "2"}}},
                                    scene.chain};
  domain::Intent intent = scene.intent(transfer_authorization_name, scene.token, payer, 5);
  const TransferAuthorization terms{
      .from = *Address20::from_text(payer.address),
      .to = *Address20::from_text(payee.address),
      .value = 5,
      .valid_after = static_cast<std::uint64_t>(intent.validity.after_s),
      .valid_before = static_cast<std::uint64_t>(intent.validity.before_s),
      .nonce = {intent.ref.value}};
  Domain domain = scene.token_domain();
  domain.version = "2";
  const domain::Authorization offered{
      .nonce = {intent.ref.value},
      .validity = intent.validity,
      .signature = sign_with(payer, authorization_digest(domain, terms).value)};
  const ports::Moment now{intent.validity.after_s + 60, intent.validity.after_s + 60};
  const auto verdict = scene.run(wrong.verify(intent, offered, now));
  REQUIRE_FALSE(verdict.has_value());
  CHECK(verdict.error().code == ports::VerifyError::version_mismatch);
}
