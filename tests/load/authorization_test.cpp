// Payments that payers sign: what is signed, and what our own chains make of it.
#include <string>

#include <doctest/doctest.h>
#include <boost/json/parse.hpp>

#include "evm/eip3009.hpp"
#include "evm/erc20.hpp"
#include "evm/transaction.hpp"
#include "evm/wire.hpp"
#include "ledger.hpp"
#include "node_answers.hpp"
#include "payers.hpp"
#include "plan.hpp"
#include "posted_tx.hpp"
#include "token.hpp"

using namespace holdfast;
using namespace holdfast::load;

namespace {

const evm::Address20 payee = *evm::parse_address("0x00000000000000000000000000000000000000aa");

evm::TransferAuthorization authorization(const Payers& payers, Byte nonce) {
  evm::TransferAuthorization out{.from = payers.of(0),
                                 .to = payee,
                                 .value = U256(7),
                                 .valid_after = U256(0),
                                 .valid_before = U256(2'000'000'000),
                                 .nonce = {}};
  out.nonce.value.fill(nonce);
  return out;
}

// Our account's transaction at this number, which runs the authorization.
Bytes posted(const evm::TransferAuthorization& what, std::uint64_t number) {
  const Payers payers(1);
  const Bytes signature = payers.sign(0, what, chain_number);
  evm::Transaction1559 tx;
  tx.chain_id = chain_number;
  tx.nonce = number;
  tx.max_fee = U256(1'000);
  tx.gas_limit = 100'000;
  tx.to = *evm::parse_address(token);
  tx.data = evm::encode_transfer_with_authorization_by_parts(what, signature);
  const auto key = evm::SecretKey::from(sha256(as_bytes("an account")));
  return evm::encode_signed(tx, evm::sign(evm::signing_digest(tx), *key));
}

boost::json::value asked(NodeAnswers& node, const std::string& request) {
  return boost::json::parse(node.answer(boost::json::parse(request), 0, 0));
}

std::string call_of(const Bytes& data) {
  return R"({"id":1,"method":"eth_call","params":[{"to":")" + std::string(token) + R"(","data":")" +
         to_0x(data) + R"("},"latest"]})";
}

}  // namespace

TEST_CASE("load authorization: a plan's signature is its payer's, over what the payment proposes") {
  Options options;
  options.method = Method::authorization;
  const Plan plan(options);
  REQUIRE(plan.is_signed());
  const engine::NewPayment payment = plan.payment(3);
  CHECK(payment.method == "transfer_authorization");
  domain::Ref ref;
  ref.value.fill(9);
  const auto signature = evm::parse_signature(plan.signature(3, {5, 2'000'000'000}, ref));
  REQUIRE(signature.has_value());
  const evm::TransferAuthorization what{.from = *evm::parse_address(payment.payer),
                                        .to = *evm::parse_address(payment.payee),
                                        .value = payment.amount,
                                        .valid_after = U256(5),
                                        .valid_before = U256(2'000'000'000),
                                        .nonce = {ref.value}};
  const auto signer =
      evm::recover(evm::authorization_digest(token_domain(chain_number), what), *signature);
  CHECK(*signer == what.from);
  CHECK_FALSE(Plan(Options{}).is_signed());
}

TEST_CASE("load authorization: what is posted says whose money moves, and by which nonce") {
  const Payers payers(1);
  const auto says = read_posted(posted(authorization(payers, 4), 0));
  REQUIRE(says.has_value());
  REQUIRE(says->authorization.has_value());
  CHECK(says->authorization->payer == payers.of(0));
  CHECK(says->payee == payee);
  CHECK(says->amount == U256(7));
  CHECK(says->ref->value == says->authorization->nonce.value);
}

TEST_CASE("load authorization: the second use of one moves nothing") {
  const Payers payers(1);
  Ledger ledger(0);
  const evm::TransferAuthorization what = authorization(payers, 4);
  REQUIRE(ledger.take(posted(what, 0)).ok() != nullptr);
  REQUIRE(ledger.take(posted(what, 1)).ok() != nullptr);
  REQUIRE(ledger.take(posted(authorization(payers, 5), 2)).ok() != nullptr);
  ledger.mine(0);
  REQUIRE(ledger.newest().count == 3);
  CHECK(ledger.at(0)->succeeded);
  CHECK_FALSE(ledger.at(1)->succeeded);
  CHECK(ledger.books().size() == 2);
  CHECK(ledger.use({what.from, what.nonce}) == ledger.at(0));
}

TEST_CASE("load authorization: the fake node shows the token, its uses and their events") {
  const Payers payers(1);
  Ledger ledger(0);
  NodeAnswers node({}, 1, ledger);
  const evm::TransferAuthorization what = authorization(payers, 4);

  const auto separator = asked(node, call_of(evm::encode_domain_separator()));
  CHECK(separator.at("result").as_string() ==
        evm::domain_separator(token_domain(chain_number)).hex());
  const std::string state = call_of(evm::encode_authorization_state(what.from, what.nonce));
  CHECK(asked(node, state).at("result").as_string().back() == '0');
  REQUIRE(ledger.take(posted(what, 0)).ok() != nullptr);
  ledger.mine(0);
  CHECK(asked(node, state).at("result").as_string().back() == '1');

  const auto receipts =
      asked(node, R"({"id":1,"method":"eth_getBlockReceipts","params":["0x1"]})").at("result");
  const auto& logs = receipts.at(0).at("logs").as_array();
  REQUIRE(logs.size() == 2);
  CHECK(logs[0].at("topics").at(0).as_string() == evm::topics::authorization_used.hex());
  CHECK(logs[1].at("topics").at(0).as_string() == evm::topics::transfer.hex());

  const std::string payer_word = "0x" + std::string(24, '0') + to_hex(what.from.view());
  const auto found = asked(node, R"({"id":1,"method":"eth_getLogs","params":[{"topics":[[],")" +
                                     payer_word + R"(",")" + what.nonce.hex() + R"("]}]})");
  const auto read = evm::read_logs(found.at("result"), 2);
  REQUIRE(read.has_value());
  REQUIRE(read->size() == 1);
  CHECK(read->front().tx == ledger.at(0)->hash);
}

TEST_CASE("load authorization: a development node is given the token where its source puts it") {
  // A short string in its slot: the text from the left, twice its length in the last byte.
  CHECK(name_params().at(1).as_string() == "0x" + std::string(64, '0'));
  CHECK(name_params().at(2).as_string() ==
        "0x486f6c646661737420446f6c6c6172000000000000000000000000000000001e");
  CHECK(version_params().at(2).as_string() ==
        "0x3100000000000000000000000000000000000000000000000000000000000002");
  CHECK(code_params().at(1).as_string().starts_with("0x6080"));
}
