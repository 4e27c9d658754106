// Whom our own node takes to have signed what is posted.
#include <string>

#include <doctest/doctest.h>
#include <boost/json/parse.hpp>

#include "evm/address.hpp"
#include "evm/transaction.hpp"
#include "ledger.hpp"
#include "node_answers.hpp"

using namespace holdfast;
using namespace holdfast::load;

namespace {

const evm::Address20 payee = *evm::parse_address("0x00000000000000000000000000000000000000aa");

struct Signer {
  evm::SecretKey key;
  domain::Address name;

  explicit Signer(const std::string& of)
      : key(*evm::SecretKey::from(sha256(as_bytes(of)))),
        name{evm::to_checksum(evm::address_of(key))} {}
};

domain::Ref ref_of(std::uint64_t number) {
  return domain::Ref{FieldHash("test/ref").add(number).finish()};
}

Bytes payout(const Signer& signer, std::uint64_t nonce, const domain::Ref& ref,
             std::uint64_t amount = 5) {
  evm::Transaction1559 tx;
  tx.chain_id = 31'337;
  tx.nonce = nonce;
  tx.max_fee = U256(1'000);
  tx.gas_limit = 100'000;
  tx.to = payee;
  tx.value = U256(amount);
  tx.data = Bytes(ref.view().begin(), ref.view().end());
  return evm::encode_signed(tx, evm::sign(evm::signing_digest(tx), signer.key));
}

struct Node {
  Ledger ledger{0};
  NodeAnswers answers{{}, 1, ledger};

  std::string ask(const std::string& method, const std::string& params) {
    return answers.answer(
        boost::json::parse(R"({"id":1,"method":")" + method + R"(","params":[)" + params + "]}"), 0,
        0);
  }
  void post(const Bytes& bytes) {
    const std::string said = ask("eth_sendRawTransaction", '"' + to_0x(bytes) + '"');
    CHECK(said.find("\"result\"") != said.npos);
  }
  void try_call(const std::string& method, const domain::Address& from, const domain::Ref& ref) {
    ask(method, R"({"from":")" + from.value + R"(","to":")" + payee.hex() + R"(","data":")" +
                    ref.hex() + R"("},"latest")");
  }
  std::uint64_t pending(const Signer& of) { return ledger.counts(of.name).pending; }
};

}  // namespace

TEST_CASE("node: who tried a call is taken to have signed the transaction that carries its words") {
  const Signer ours("ours");
  const Signer other("other");
  for (const char* const method : {"eth_estimateGas", "eth_call"}) {
    Node node;
    // Nobody is taken at their word who was never recovered.
    node.try_call(method, ours.name, ref_of(0));
    node.post(payout(other, 0, ref_of(0)));
    CHECK(node.pending(ours) == 0);
    CHECK(node.pending(other) == 1);
    node.post(payout(ours, 0, ref_of(1)));
    CHECK(node.pending(ours) == 1);

    node.try_call(method, ours.name, ref_of(2));
    node.post(payout(other, 1, ref_of(2)));
    CHECK(node.pending(ours) == 2);
    CHECK(node.pending(other) == 1);
    // Once: another transaction with the same words is recovered.
    node.post(payout(other, 1, ref_of(2), 6));
    CHECK(node.pending(other) == 2);
  }
}

TEST_CASE("node: one in sixty-four is recovered all the same, and found out") {
  const Signer ours("ours");
  const Signer other("other");
  Node node;
  node.post(payout(ours, 0, ref_of(0)));
  for (std::uint64_t number = 1; number <= 64; ++number) {
    node.try_call("eth_estimateGas", ours.name, ref_of(number));
    node.post(payout(other, number % 64, ref_of(number)));
  }
  CHECK(node.pending(ours) == 64);
  CHECK(node.pending(other) == 1);
}
