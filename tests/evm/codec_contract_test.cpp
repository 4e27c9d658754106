#include "evm/codec_vectors.hpp"
#include "evm/eip3009.hpp"
#include "evm/erc20.hpp"
#include "evm/logs.hpp"

namespace holdfast::evm {
namespace {

using vectors::code_name;
using vectors::section;
using vectors::table;
using vectors::text;

TEST_CASE("abi: the selectors and topics are the hashes of their signatures") {
  const std::string terms = "address,address,uint256,uint256,uint256,bytes32,";
  using abi::selector_of;
  CHECK(selectors::transfer == selector_of("transfer(address,uint256)"));
  CHECK(selectors::balance_of == selector_of("balanceOf(address)"));
  CHECK(selectors::decimals == selector_of("decimals()"));
  CHECK(selectors::name == selector_of("name()"));
  CHECK(selectors::version == selector_of("version()"));
  CHECK(selectors::domain_separator == selector_of("DOMAIN_SEPARATOR()"));
  CHECK(selectors::transfer_with_authorization ==
        selector_of("transferWithAuthorization(" + terms + "uint8,bytes32,bytes32)"));
  CHECK(selectors::transfer_with_authorization_bytes ==
        selector_of("transferWithAuthorization(" + terms + "bytes)"));
  CHECK(selectors::authorization_state == selector_of("authorizationState(address,bytes32)"));
  CHECK(selectors::cancel_authorization ==
        selector_of("cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)"));
  CHECK(topics::transfer.value == keccak256("Transfer(address,address,uint256)").value);
  CHECK(topics::authorization_used.value == keccak256("AuthorizationUsed(address,bytes32)").value);
  CHECK(topics::authorization_canceled.value ==
        keccak256("AuthorizationCanceled(address,bytes32)").value);
}

TEST_CASE("erc-20: a transfer is encoded byte for byte, the ref behind it, and read back") {
  for (const auto& vector : section("transfers", 30)) {
    TransferCall call{vectors::address(vector.at("to")), vectors::uint(vector.at("amount")), {}};
    CHECK(to_0x(encode_transfer(call)) == text(vector.at("call")));
    CHECK(decode_transfer(encode_transfer(call)).value() == call);
    call.ref = vectors::bytes32(vector.at("ref"));
    CHECK(to_0x(encode_transfer(call)) == text(vector.at("call_with_ref")));
    CHECK(decode_transfer(encode_transfer(call)).value() == call);
  }
}

TEST_CASE("erc-20: call data of any other length than a transfer's is refused") {
  const Bytes good = encode_transfer({Address20{}, U256(1), Bytes32{}});
  for (std::size_t size = 0; size < 140; ++size) {
    Bytes bytes = good;
    bytes.resize(size);
    const auto expected = size < 4                    ? "other_call"
                          : size == 68 || size == 100 ? "accepted"
                                                      : "bad_abi";
    CHECK(code_name(decode_transfer(bytes)) == expected);
  }
}

TEST_CASE("erc-20: the questions are encoded byte for byte") {
  const auto& views = table("views");
  CHECK(to_0x(encode_balance_of(vectors::address(views.at("account")))) ==
        text(views.at("balance_of")));
  CHECK(to_0x(encode_decimals()) == text(views.at("decimals")));
  CHECK(to_0x(encode_name()) == text(views.at("name")));
  CHECK(to_0x(encode_version()) == text(views.at("version")));
  CHECK(to_0x(encode_domain_separator()) == text(views.at("domain_separator")));
}

TEST_CASE("erc-20: answers are read to the value that was encoded") {
  const auto& answers = table("answers");
  for (const auto& vector : answers.at("uint").as_array()) {
    CHECK(decode_uint_answer(vectors::bytes(vector.at("answer")), "balance").value() ==
          vectors::uint(vector.at("value")));
  }
  for (const auto& vector : answers.at("uint8").as_array()) {
    CHECK(decode_uint8_answer(vectors::bytes(vector.at("answer")), "decimals").value() ==
          vector.at("value").as_int64());
  }
  for (const auto& vector : answers.at("string").as_array()) {
    CHECK(decode_string_answer(vectors::bytes(vector.at("answer")), "name").value() ==
          text(vector.at("value")));
  }
  for (const auto& vector : answers.at("boolean").as_array()) {
    CHECK(decode_authorization_state(vectors::bytes(vector.at("answer"))).value() ==
          vector.at("value").as_bool());
  }
}

TEST_CASE("erc-20: an answer of another shape is refused, an empty one as empty") {
  CHECK(decode_uint_answer({}, "the balance").error().detail == "the balance is empty");
  CHECK(decode_uint_answer(Bytes(31), "the balance").error().detail ==
        "the balance has 31 bytes; at least 32 are needed");
  CHECK(code_name(decode_uint_answer(Bytes(64), "the balance")) == "bad_abi");
  Bytes word(32);
  word[30] = 1;
  CHECK(code_name(decode_uint8_answer(word, "decimals")) == "bad_abi");
  CHECK(decode_authorization_state(word).error().detail ==
        "the answer to authorizationState: the state is neither 0 nor 1");
}

TEST_CASE("erc-20: a name that is too long or no UTF-8 is refused") {
  const auto answer = [](const Bytes& content) {
    const Bytes call = abi::CallWriter({}).bytes(content).finish();
    return Bytes(call.begin() + 4, call.end());
  };
  CHECK(decode_string_answer(answer(Bytes(256, 'a')), "the name").has_value());
  CHECK(decode_string_answer(answer(Bytes(257, 'a')), "the name").error().detail ==
        "the name: the text is longer than 256 bytes");
  // A lone continuation, an overlong form, a surrogate, a character beyond the last, a cut one.
  for (const Bytes& bad : {Bytes{0x80}, Bytes{0xc0, 0xaf}, Bytes{0xed, 0xa0, 0x80},
                           Bytes{0xf4, 0x90, 0x80, 0x80}, Bytes{0xe2, 0x9c}}) {
    CHECK(decode_string_answer(answer(bad), "the name").error().detail == "the name is not UTF-8");
  }
}

Log log_of(const boost::json::value& vector) {
  Log log;
  log.address.value.fill(0x42);
  for (const auto& topic : vector.at("topics").as_array()) {
    log.topics.push_back(vectors::bytes32(topic));
  }
  log.data = vectors::bytes(vector.at("data"));
  return log;
}

TEST_CASE("logs: each event is read to its fields, and only by its own decoder") {
  for (const auto& vector : section("logs", 36)) {
    const Log log = log_of(vector);
    const std::string event = text(vector.at("event"));
    const auto transfer = decode_transfer_event(log);
    const auto used = decode_authorization_used(log);
    const auto canceled = decode_authorization_canceled(log);
    CHECK(code_name(transfer) == (event == "Transfer" ? "accepted" : "other_event"));
    CHECK(code_name(used) == (event == "AuthorizationUsed" ? "accepted" : "other_event"));
    CHECK(code_name(canceled) == (event == "AuthorizationCanceled" ? "accepted" : "other_event"));
    if (transfer) {
      CHECK(*transfer == TransferEvent{log.address, vectors::address(vector.at("from")),
                                       vectors::address(vector.at("to")),
                                       vectors::uint(vector.at("value"))});
      continue;
    }
    const AuthorizationEvent expected{log.address, vectors::address(vector.at("authorizer")),
                                      vectors::bytes32(vector.at("nonce"))};
    CHECK((used ? *used : *canceled) == expected);
  }
}

TEST_CASE("logs: the right event with other topics or data is refused, never read halfway") {
  for (const auto& vector : section("logs", 36)) {
    const auto decode = [&](const Log& log) {
      const std::string event = text(vector.at("event"));
      if (event == "Transfer") return code_name(decode_transfer_event(log));
      return code_name(event == "AuthorizationUsed" ? decode_authorization_used(log)
                                                    : decode_authorization_canceled(log));
    };
    Log log = log_of(vector);
    REQUIRE(decode(log) == "accepted");
    log.data.push_back(0);
    CHECK(decode(log) == "bad_log");
    log = log_of(vector);
    log.topics.emplace_back();
    CHECK(decode(log) == "bad_log");
    log = log_of(vector);
    log.topics.pop_back();
    CHECK(decode(log) == "bad_log");
    log = log_of(vector);
    log.topics[1].value[0] = 1;  // not an address
    CHECK(decode(log) == "bad_log");
    log.topics.clear();
    CHECK(decode(log) == "other_event");
  }
}

TEST_CASE("logs: ERC-721's Transfer, with its fourth topic, is no transfer of tokens") {
  Log log{{}, {topics::transfer, {}, {}, {}}, {}};
  CHECK(decode_transfer_event(log).error().detail == "a log of Transfer has 3 topics; this has 4");
}

}  // namespace
}  // namespace holdfast::evm
