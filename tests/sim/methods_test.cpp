// The simulated methods, the opaque sender and the signer.
#include "sim/methods.hpp"

#include <vector>

#include "sim/chain_rig.hpp"
#include "sim/opaque_chain.hpp"

namespace holdfast::testing {
namespace {

using domain::Moved;
using ports::RefusalKind;
using ports::VerifyError;
using Seen = domain::AuthorizationSeen::Result;

ports::Moment now_of(ChainRig& rig) {
  const std::int64_t now_s = rig.world.clock().wall_ms() / 1000;
  return {now_s, now_s};
}

boost::system::error_code verify(ChainRig& rig, const domain::Intent& intent,
                                 const domain::Authorization& shown) {
  const auto result = rig.world.run(rig.authorization.verify(intent, shown, now_of(rig)));
  return result ? boost::system::error_code() : result.error().code;
}

TEST_CASE("sim methods: an authorization is verified, run by us, used once, and read back") {
  ChainRig rig;
  const auto intent = rig.intent("a", 40, true);
  CHECK(rig.authorization.check_terms(intent.terms).has_value());
  CHECK(rig.authorization.typed_data(intent).find(intent.ref.hex()) != std::string::npos);
  CHECK_FALSE(verify(rig, intent, *intent.authorization));
  CHECK(rig.world.run(rig.authorization.read_authorization(intent)).result == Seen::unused);

  const auto tx = rig.sign(rig.call(intent), 0);
  CHECK(rig.post(tx).ok() != nullptr);
  rig.chain.mine();
  const auto mined = rig.chain.mined(tx.hash);
  REQUIRE(mined);
  CHECK(mined->succeeded);
  CHECK(rig.authorization.evidence(intent, *mined, true).moved == Moved::exact);
  CHECK(rig.chain.balance(rig.payer, rig.token) == U256(460));
  CHECK(rig.chain.moved(intent.ref) == 1);

  auto seen = rig.world.run(rig.authorization.read_authorization(intent));
  CHECK(seen.result == Seen::used_exactly);
  CHECK(seen.tx->hash == tx.hash);
  CHECK_FALSE(seen.is_final);
  rig.chain.mine(2);
  CHECK(rig.world.run(rig.authorization.read_authorization(intent)).is_final);

  CHECK(verify(rig, intent, *intent.authorization) == VerifyError::already_used);
  const auto again = rig.sign(rig.call(intent), 1);
  CHECK(rig.post(again).ok() != nullptr);
  rig.chain.mine();
  CHECK_FALSE(rig.chain.mined(again.hash)->succeeded);
  CHECK(rig.chain.moved(intent.ref) == 1);
}

TEST_CASE("sim methods: each fault of an authorization has its own reason") {
  ChainRig rig;
  const auto intent = rig.intent("a", 40, true);
  auto other = intent;
  other.terms.amount = U256(41);
  CHECK(verify(rig, other, *intent.authorization) == VerifyError::wrong_signer);
  auto shown = *intent.authorization;
  shown.signature.pop_back();
  CHECK(verify(rig, intent, shown) == VerifyError::bad_signature);
  shown = *intent.authorization;
  shown.signature[5] ^= 1;
  CHECK(verify(rig, intent, shown) == VerifyError::wrong_signer);

  auto rich = rig.intent("b", 501, true);
  CHECK(verify(rig, rich, *rich.authorization) == VerifyError::insufficient_funds);
  const std::int64_t now_s = rig.world.clock().wall_ms() / 1000;
  const domain::Nonce nonce{intent.ref.value};
  CHECK(verify(rig, intent, sim::authorize(intent.terms, nonce, {now_s, now_s + 100})) ==
        VerifyError::not_yet_valid);
  CHECK(verify(rig, intent, sim::authorize(intent.terms, nonce, {now_s - 9, now_s})) ==
        VerifyError::expired);
  rig.chain.script().fail_next(sim::ChainCall::authorization, sim::unknown());
  CHECK(verify(rig, intent, *intent.authorization) == VerifyError::node_trouble);
  rig.chain.script().fail_next(sim::ChainCall::authorization, sim::unknown());
  CHECK(rig.world.run(rig.authorization.read_authorization(intent)).result == Seen::unknown);
}

TEST_CASE("sim methods: terms that cannot be paid are refused with a sentence") {
  const ChainRig rig;
  auto terms = rig.intent("a", 40, true).terms;
  terms.amount = U256(0);
  CHECK(rig.authorization.check_terms(terms).error().detail == "amount must be at least 1");
  CHECK_FALSE(rig.payout.check_terms(terms).has_value());
  terms = rig.intent("a", 40, true).terms;
  terms.payee = terms.payer;
  CHECK_FALSE(rig.payout.check_terms(terms).has_value());
  terms = rig.intent("a", 40, true).terms;
  terms.asset = domain::native_asset;
  CHECK_FALSE(rig.authorization.check_terms(terms).has_value());
  CHECK(rig.payout.check_terms(terms).has_value());
  terms.chain = {"sim:2"};
  CHECK_FALSE(rig.payout.check_terms(terms).has_value());
  auto unsigned_intent = rig.intent("a", 40, true);
  unsigned_intent.authorization.reset();
  CHECK_FALSE(rig.authorization.call(unsigned_intent).has_value());
}

TEST_CASE("sim methods: an authorization canceled or used by others is seen as such") {
  ChainRig rig;
  rig.chain.give(rig.payer, domain::native_asset, U256(1'000'000'000));
  const domain::Address stranger{"stranger"};
  rig.chain.give(stranger, domain::native_asset, U256(1'000'000'000));
  const auto intent = rig.intent("a", 40, true);
  sim::SimCall cancel;
  cancel.kind = sim::SimCall::Kind::cancel_authorization;
  cancel.asset = rig.token;
  cancel.from = rig.payer;
  cancel.authorization.nonce = intent.authorization->nonce;
  const domain::Fees fees{U256(2'100), U256(100), 60'000};
  rig.chain.run_elsewhere({rig.payer, {0}, sim::to_call(cancel), fees});
  rig.chain.mine();
  CHECK(rig.world.run(rig.authorization.read_authorization(intent)).result == Seen::canceled);
  CHECK(verify(rig, intent, *intent.authorization) == VerifyError::canceled);

  // A stranger runs ours, exactly; and one of the same number on other terms.
  const auto ours = rig.intent("b", 40, true);
  rig.chain.run_elsewhere({stranger, {0}, rig.call(ours), fees});
  auto other = rig.intent("c", 40, true);
  auto other_run = other;
  other_run.terms.amount = U256(41);
  other_run.authorization = sim::authorize(other_run);
  rig.chain.run_elsewhere({stranger, {1}, rig.call(other_run), fees});
  rig.chain.mine();
  CHECK(rig.world.run(rig.authorization.read_authorization(ours)).result == Seen::used_exactly);
  CHECK(rig.world.run(rig.authorization.read_authorization(other)).result == Seen::used_otherwise);
}

TEST_CASE("sim methods: an expired authorization reverts, and its being unused has a final time") {
  ChainRig rig;
  const auto intent = rig.intent("a", 40, true);
  rig.world.run_for(3'600'000);
  rig.chain.mine(4);
  const auto simulated = rig.world.run(rig.chain.simulate(rig.ours, rig.call(intent)));
  CHECK(simulated.refused()->message == "execution reverted: authorization is expired");
  const auto seen = rig.world.run(rig.authorization.read_authorization(intent));
  CHECK(seen.result == Seen::unused);
  CHECK(seen.unused_at_final_s == intent.validity.before_s);
}

TEST_CASE("sim opaque chain: answers as scripted, counts its calls, and lands apart from answers") {
  sim::SimWorld world;
  sim::OpaqueChain chain(world.clock());
  const ChainRig rig;
  auto intent = rig.intent("a", 40);
  intent.terms.chain = chain.info().id;
  CHECK(chain.info().opaque);
  CHECK_FALSE(chain.info().ordered);
  chain.next_answer(ports::Unknown{"no answer", false});
  CHECK(world.run(chain.send_order(intent.id, intent.terms)).unknown() != nullptr);
  CHECK(chain.sends(intent.id) == 1);
  const auto answer = world.run(chain.send_order(intent.id, intent.terms));
  REQUIRE(answer.ok() != nullptr);
  CHECK(chain.sends(intent.id) == 2);  // a test would now say so
  CHECK(chain.sends() == 2);

  const auto hash = chain.land(intent.id, intent.ref);
  CHECK(answer.ok()->value() == hash);
  CHECK(world.run(chain.find(hash)).ok()->place == ports::Whereabouts::Place::not_found);
  world.run_for(1'000);
  const auto found = world.run(chain.find(hash));
  CHECK(found.ok()->place == ports::Whereabouts::Place::mined);
  CHECK(domain::evidence_of_payout(intent, *found.ok()->tx, true).moved == Moved::exact);
  const auto block = world.run(chain.block(1));
  CHECK(block.ok()->value().txs.size() == 1);
  CHECK(block.ok()->value().ref.hash == **world.run(chain.block_hash(1)).ok());
  CHECK(block.ok()->value().parent == **world.run(chain.block_hash(0)).ok());
  CHECK(world.run(chain.head()).ok()->finalized.height == 0);
  world.run_for(2'000);
  CHECK(world.run(chain.head()).ok()->finalized.height == 1);
  CHECK(world.run(chain.sequences(rig.ours)).refused()->kind == RefusalKind::no_such_method);
  chain.script().set_down(true);
  CHECK(world.run(chain.send_order(intent.id, intent.terms)).not_sent() != nullptr);
}

TEST_CASE("sim signer: signs for its own accounts only, and fails as told") {
  sim::SimWorld world;
  const domain::Address ours{"ours"};
  sim::ScriptedSigner signer({ours});
  const Digest digest = sha256(as_bytes("x"));
  CHECK(*world.run(signer.sign(ours, digest)).ok() == sim::sign_as(ours, digest));
  CHECK(world.run(signer.sign(domain::Address{"theirs"}, digest)).refused() != nullptr);
  signer.fail_next(sim::unknown("down"));
  CHECK(world.run(signer.sign(ours, digest)).unknown() != nullptr);
  CHECK(signer.signatures() == 1);
}

}  // namespace
}  // namespace holdfast::testing
