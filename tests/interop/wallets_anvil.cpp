// Every way a payer may sign, against contracts on a real node: what is verified is what the node
// would run, and what was run is found, whoever ran it.
#include "evm/methods/wallet_signature.hpp"
#include "evm/multicall3.hpp"
#include "interop/evm_scene.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;
using domain::AuthorizationSeen;
using ports::VerifyError;

namespace {

std::string word_of(const std::string& address) { return std::string(24, '0') + address.substr(2); }

std::string checksum(const std::string& address) {
  return to_checksum(*Address20::from_text(address));
}

struct WalletScene : Scene {
  /// An intent whose payer is this account, signed by the payer's key.
  domain::Intent intent_from(const std::string& account, std::uint64_t amount = 1'000'000) {
    domain::Intent out = intent(transfer_authorization_name, token, payer, amount);
    out.terms.payer = {checksum(account)};
    out.ref = domain::derive_ref(out.id, out.terms);
    out.authorization = domain::Authorization{{out.ref.value}, out.validity, {}};
    const TransferAuthorization terms{
        .from = *Address20::from_text(account),
        .to = *Address20::from_text(payee.address),
        .value = amount,
        .valid_after = static_cast<std::uint64_t>(out.validity.after_s),
        .valid_before = static_cast<std::uint64_t>(out.validity.before_s),
        .nonce = {out.ref.value}};
    out.authorization->signature =
        sign_with(payer, authorization_digest(token_domain(), terms).value);
    return out;
  }
  static Bytes marked(const Bytes& signature) {
    Bytes out{0x77};
    out.insert(out.end(), signature.begin(), signature.end());
    return out;
  }
  Result<void> verdict(ports::Method& method, const domain::Intent& intent) {
    const ports::Moment now{intent.validity.after_s + 60, intent.validity.after_s + 60};
    return run(method.verify(intent, *intent.authorization, now));
  }
  bool would_run(ports::Method& method, const domain::Intent& intent) {
    const auto call = method.call(intent);
    return call && run(chain.simulate({sender.address}, *call)).ok() != nullptr;
  }
  /// What settles: verified, simulated, sent, found in its block and by its state.
  void check_pays(ports::Method& method, const domain::Intent& intent, std::uint64_t sequence) {
    const auto good = verdict(method, intent);
    CAPTURE(good ? std::string() : good.error().detail);
    REQUIRE(good.has_value());
    const ports::SignedTx tx = sealed(*method.call(intent), sequence);
    read(chain.post(tx.bytes, tx.hash));
    const domain::MinedTx in_block = mined(tx.hash);
    CHECK(method.evidence(intent, in_block, true).moved == domain::Moved::exact);
    const AuthorizationSeen seen = run(method.read_authorization(intent));
    CHECK(seen.result == AuthorizationSeen::Result::used_exactly);
    REQUIRE(seen.tx);
    CHECK(seen.tx->hash == tx.hash);
    CHECK_FALSE(would_run(method, intent));
    const auto why = run(method.explain(intent, refuse(VerifyError::simulation_failed, "")));
    CHECK(why.code == VerifyError::already_used);
  }
  /// EIP-6492: made by this factory with this call.
  static Bytes wrapped(const std::string& factory, const Bytes& call, const Bytes& inner) {
    const Bytes words = abi::CallWriter({})
                            .address(*Address20::from_text(factory))
                            .bytes(call)
                            .bytes(inner)
                            .finish();
    Bytes out(words.begin() + 4, words.end());
    for (int i = 0; i < 16; ++i) out.insert(out.end(), {0x64, 0x92});
    return out;
  }

  domain::Intent permit_intent(std::uint64_t amount) {
    domain::Intent out = intent(permit2_name, token, payer, amount);
    out.bearer = true;
    domain::Nonce nonce{out.ref.value};
    const ExactPermit permit{.owner = *Address20::from_text(payer.address),
                             .token = *Address20::from_text(token.value),
                             .to = *Address20::from_text(payee.address),
                             .amount = amount,
                             .nonce = *U256::from_big_endian(nonce.value),
                             .deadline = static_cast<std::uint64_t>(out.validity.before_s),
                             .valid_after = static_cast<std::uint64_t>(out.validity.after_s)};
    out.authorization = domain::Authorization{
        nonce, out.validity, sign_with(payer, exact_permit_digest(31337, permit).value)};
    return out;
  }
  void place_permit2() {
    anvil.place(to_checksum(permit2_address), "TestPermit2");
    anvil.place(to_checksum(exact_proxy_address), "TestExactProxy");
  }
  Permit2Method permit2{{.assets = {{token, "Holdfast Token", "1"}}}, chain};
};

}  // namespace

TEST_CASE("anvil: for every form of a key's signature the verdict is the simulation's") {
  WalletScene scene;
  const domain::Intent good = scene.intent_from(payer.address);
  struct Row {
    const char* what;
    bool pays;
    Bytes signature;
  };
  const Bytes& plain = good.authorization->signature;
  Bytes low_v = plain;
  low_v[64] = static_cast<Byte>(low_v[64] - 27);
  Bytes high_s = plain;
  const U256 order =
      *U256::from_0x("0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
  const auto other =
      order.minus(*U256::from_big_endian(ByteView(plain).subspan(32, 32)))->big_endian();
  std::copy(other.begin(), other.end(), high_s.begin() + 32);
  high_s[64] = plain[64] == 27 ? 28 : 27;
  const Bytes short_form(plain.begin(), plain.begin() + 64);
  for (const Row& row : {Row{"v of 27 or 28", true, plain}, Row{"v of 0 or 1", true, low_v},
                         Row{"high s", false, high_s}, Row{"EIP-2098", false, short_form},
                         Row{"garbage", false, Bytes(65, 0x11)}}) {
    CAPTURE(row.what);
    domain::Intent intent = good;
    intent.authorization->signature = row.signature;
    CHECK(scene.verdict(scene.bearer, intent).has_value() == row.pays);
    CHECK(scene.would_run(scene.bearer, intent) == row.pays);
  }
}

TEST_CASE("anvil: a contract wallet pays through the bytes overload, and nobody else for it") {
  WalletScene scene;
  const std::string wallet = scene.anvil.deploy("TestWallet", word_of(payer.address));
  scene.anvil.mint(scene.token.value, wallet, 5'000'000);
  domain::Intent intent = scene.intent_from(wallet);
  // The owner's own 65 bytes are not what this wallet takes.
  const auto refused = scene.verdict(scene.bearer, intent);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == VerifyError::wrong_signer);
  CHECK_FALSE(scene.would_run(scene.bearer, intent));
  intent.authorization->signature = WalletScene::marked(intent.authorization->signature);
  scene.check_pays(scene.bearer, intent, 0);
}

TEST_CASE("anvil: an account that delegates its code signs as its delegate says") {
  WalletScene scene;
  const std::string delegate = scene.anvil.deploy("TestDelegate");
  scene.anvil.call("anvil_setCode",
                   boost::json::array{payer.address, "0xef0100" + delegate.substr(2)});
  const domain::Intent plain = scene.intent_from(payer.address);
  scene.check_pays(scene.bearer, plain, 0);
  domain::Intent marked = scene.intent_from(payer.address);
  marked.authorization->signature = WalletScene::marked(marked.authorization->signature);
  scene.check_pays(scene.bearer, marked, 1);
  domain::Intent garbage = scene.intent_from(payer.address);
  garbage.authorization->signature = Bytes(66, 0x77);
  CHECK_FALSE(scene.verdict(scene.bearer, garbage).has_value());
  CHECK_FALSE(scene.would_run(scene.bearer, garbage));
}

TEST_CASE("anvil: a wallet that is not there yet is made only by a listed factory, as it pays") {
  WalletScene scene;
  scene.anvil.place(to_checksum(multicall3_address), "TestMulticall3");
  const std::string factory = checksum(scene.anvil.deploy("TestWalletFactory"));
  const auto call = [&](std::string_view function, Byte salt) {
    return abi::CallWriter(abi::selector_of(function))
        .address(*Address20::from_text(payer.address))
        .bytes32(Bytes32{{salt}})
        .finish();
  };
  const Bytes answer = scene.read(scene.chain.call_contract(
      *Address20::from_text(factory), call("addressOf(address,bytes32)", 1), "latest"));
  const std::string wallet = to_checksum(*Address20::from(ByteView(answer).last(20)));
  scene.anvil.mint(scene.token.value, wallet, 5'000'000);
  domain::Intent intent = scene.intent_from(wallet);
  const Bytes inner = WalletScene::marked(intent.authorization->signature);
  const Bytes make = call("make(address,bytes32)", 1);
  intent.authorization->signature = WalletScene::wrapped(factory, make, inner);

  const auto refused = scene.verdict(scene.bearer, intent);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == VerifyError::factory_not_allowed);
  CHECK_FALSE(scene.would_run(scene.bearer, intent));

  TransferAuthorizationMethod listed{{.assets = {{scene.token, "Holdfast Token", "1"}},
                                      .wallet_factories = {*Address20::from_text(factory)}},
                                     scene.chain};
  // Garbage inside the wrapper, and a wallet of another salt.
  domain::Intent bad = intent;
  bad.authorization->signature = WalletScene::wrapped(factory, make, Bytes(66, 0x77));
  CHECK_FALSE(scene.would_run(listed, bad));
  bad.authorization->signature =
      WalletScene::wrapped(factory, call("make(address,bytes32)", 2), inner);
  CHECK_FALSE(scene.would_run(listed, bad));
  const auto why = scene.run(listed.explain(bad, refuse(VerifyError::simulation_failed, "")));
  CHECK(why.code == VerifyError::deployment_failed);

  scene.check_pays(listed, intent, 0);
  // It is there now: its wrapped signature is unwrapped, and any factory will do.
  domain::Intent again = scene.intent_from(wallet);
  again.authorization->signature = WalletScene::wrapped(
      payee.address, make, WalletScene::marked(again.authorization->signature));
  scene.check_pays(scene.bearer, again, 1);
}

TEST_CASE("anvil: a permit pays through the proxy, and is found whoever settled it") {
  WalletScene scene;
  domain::Intent intent = scene.permit_intent(1'000'000);
  REQUIRE(scene.verdict(scene.permit2, intent).has_value());
  const auto why = [&] {
    return scene.run(scene.permit2.explain(intent, refuse(VerifyError::simulation_failed, "")))
        .code;
  };
  CHECK_FALSE(scene.would_run(scene.permit2, intent));
  CHECK(why() == VerifyError::not_supported);
  scene.place_permit2();
  CHECK_FALSE(scene.would_run(scene.permit2, intent));
  CHECK(why() == VerifyError::allowance_missing);
  const Bytes approve = abi::CallWriter(abi::selector_of("approve(address,uint256)"))
                            .address(permit2_address)
                            .uint(U256::max())
                            .finish();
  scene.anvil.send(payer.address, scene.token.value, to_0x(approve));
  scene.anvil.mine(3);
  CHECK(scene.run(scene.permit2.read_authorization(intent)).result ==
        AuthorizationSeen::Result::unused);
  scene.check_pays(scene.permit2, intent, 0);

  // Somebody else's account submits it.
  const domain::Intent theirs = scene.permit_intent(7);
  const auto call = *scene.permit2.call(theirs);
  scene.anvil.send(payee.address, call.target.value, to_0x(call.payload));
  scene.anvil.mine(3);
  const AuthorizationSeen seen = scene.run(scene.permit2.read_authorization(theirs));
  CHECK(seen.result == AuthorizationSeen::Result::used_exactly);
  REQUIRE(seen.tx);
  CHECK(seen.tx->sender.value == payee.address);
  CHECK(seen.is_final);
  CHECK(scene.permit2.evidence(theirs, *seen.tx, false).moved == domain::Moved::exact);

  const domain::Intent rich = scene.permit_intent(100'000'000);
  intent = rich;
  CHECK_FALSE(scene.would_run(scene.permit2, rich));
  CHECK(why() == VerifyError::insufficient_funds);
}

TEST_CASE("anvil: an authorization that somebody else submitted is found") {
  WalletScene scene;
  const domain::Intent intent = scene.intent_from(payer.address);
  const auto call = *scene.bearer.call(intent);
  scene.anvil.send(payee.address, call.target.value, to_0x(call.payload));
  scene.anvil.mine(3);
  const AuthorizationSeen seen = scene.run(scene.bearer.read_authorization(intent));
  CHECK(seen.result == AuthorizationSeen::Result::used_exactly);
  REQUIRE(seen.tx);
  CHECK(seen.tx->sender.value == payee.address);
  CHECK(seen.is_final);
}
