// Cases L about tokens whose transfers are not what was asked for. Each is a few instructions put
// at an address of its own, which do the same whatever they are called with.
#include <doctest/doctest.h>
#include <boost/json/serialize.hpp>

#include "evm/logs.hpp"
#include "rig.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

// Instructions in hex. A value is what pushes one word.
using Code = std::string;
const Code sender = "33";         // CALLER
const Code origin = "32";         // ORIGIN
const Code to = "600435";         // of transfer(to, amount)
const Code amount = "602435";
const Code returns_true = "60015f5260205ff3";
const Code returns_false = "5f5f5260205ff3";

Code word(const std::string& address) { return "73" + address.substr(2); }
/// So many percent of the amount, rounded down.
Code percent(unsigned part) {
  const Byte one = static_cast<Byte>(part);
  return "606460" + to_hex({&one, 1}) + amount + "0204";
}
Code rest_of(unsigned part) { return percent(part) + amount + "03"; }
Code one_more() { return "6001" + amount + "01"; }

Code emits_transfer(const Code& from, const Code& receiver, const Code& value) {
  return value + "5f52" + receiver + from + "7f" + evm::topics::transfer.hex().substr(2) +
         "60205fa3";
}
/// Calls another contract with what it was called with.
Code calls(const std::string& other) {
  return "365f5f37" + Code("5f5f365f5f") + word(other) + "5af150";
}

std::string put(const Code& code) {
  const std::string address = new_person().address;
  if (!code.empty()) shared_anvil().call("anvil_setCode", json::array{address, "0x" + code});
  return address;
}

std::string asset(const std::string& address) {
  return "[[chain.asset]]\naddress = \"" + address + "\"\n";
}

Payment pay_in(Rig& rig, const std::string& token, const std::string& key) {
  std::string body = rig.payout_body();
  body.replace(body.find(rig.token), rig.token.size(), token);
  return rig.ask_for(body, key);
}

std::string leg(const json::value& detail, const std::string& kind, const std::string& account) {
  for (const json::value& entry : detail.at("journal").as_array()) {
    if (text_of(entry, "kind") != kind) continue;
    for (const json::value& one : entry.at("legs").as_array()) {
      if (text_of(one, "account").starts_with(account)) return text_of(one, "amount");
    }
  }
  return "";
}

/// A token that keeps the rest of what it is asked to move for itself.
struct Taken {
  unsigned keeps_percent;  ///< what the payee gets
  const char* amount;
  const char* arrives;
  const char* fee;
};

void a_fee_is_taken(const Taken& how) {
  CAPTURE(how.amount);
  CAPTURE(how.keeps_percent);
  const std::string collector = new_person().address;
  Options options;
  options.token =
      put(emits_transfer(sender, to, percent(how.keeps_percent)) +
          emits_transfer(sender, word(collector), rest_of(how.keeps_percent)) + returns_true);
  Rig rig(options);
  rig.start();
  const Payment one = rig.payout(how.amount);
  // Not what was asked for: never settled by itself.
  CHECK(rig.mine_until(one, "needs_review"));
  json::value detail = rig.detail(one.id);
  CHECK(text_of(detail, "reason") == "transfer_mismatch");
  const std::string tx = rig.raws_of(one).front().hash;
  CHECK(text_of(detail, "tx_hash") == tx);
  CHECK(leg(detail, "post", "payee:").empty());
  CHECK(leg(detail, "void", "hold:").empty());
  CHECK(rig.proxy->raws().size() == 1);

  // A person takes it for what it is: what arrived, and the rest as the fee.
  const Answer answer =
      rig.ask("POST", "/v1/payment_intents/" + one.id + "/resolve",
              json::serialize(json::object{
                  {"as", "settled"}, {"tx_hash", tx}, {"reason", "the token takes a fee"}}),
              "resolve");
  if (std::string(how.arrives) == "0") {
    CHECK(answer.status == 409);
    CHECK(rig.state(one.id) == "needs_review");
  } else {
    CHECK_MESSAGE(answer.status == 200, answer.text);
    detail = rig.detail(one.id);
    CHECK(text_of(detail, "state") == "settled");
    CHECK(leg(detail, "hold", "source:") == "-" + std::string(how.amount));
    CHECK(leg(detail, "post", "hold:") == "-" + std::string(how.amount));
    CHECK(leg(detail, "post", "payee:") == how.arrives);
    CHECK(leg(detail, "post", "fee:") == how.fee);
  }
  Allowed allowed;
  allowed.unsettled = true;
  rig.check_all(allowed);
}

}  // namespace

TEST_CASE("L4: a token that takes a fee credits what arrived, and never the nominal amount") {
  a_fee_is_taken({99, "1000000", "990000", "10000"});
}

TEST_CASE("L4: a token that keeps everything pays nobody") {
  a_fee_is_taken({0, "1000000", "0", "1000000"});
}

TEST_CASE("L4: of the smallest amount a fee leaves nothing, and nothing is credited") {
  a_fee_is_taken({99, "1", "0", "1"});
}

TEST_CASE("L5: a transaction that succeeded without the transfer is no payment") {
  const std::string stranger = new_person().address;
  const std::string inner = put(emits_transfer(origin, to, amount) + returns_true);
  struct Row {
    const char* what;
    std::string token;
  };
  const std::vector<Row> rows = {
      {"returns false, and no log", put(returns_false)},
      {"another sender in the log", put(emits_transfer(word(stranger), to, amount) + returns_true)},
      {"the log is another token's", put(calls(inner) + returns_true)},
      {"less than asked", put(emits_transfer(sender, to, percent(50)) + returns_true)},
      {"more than asked", put(emits_transfer(sender, to, one_more()) + returns_true)},
  };
  const std::string nothing = put("");
  Options options;
  for (const Row& row : rows) options.more_assets += asset(row.token);
  options.more_assets += asset(nothing);
  Rig rig(options);
  rig.start();
  std::vector<Payment> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all.push_back(pay_in(rig, rows[i].token, "l5-" + std::to_string(i)));
  }
  CHECK(rig.mine_until(all, "needs_review"));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(rows[i].what);
    const json::value detail = rig.detail(all[i].id);
    CHECK(text_of(detail, "reason") == "transfer_mismatch");
    const auto raws = rig.raws_of(all[i]);
    REQUIRE(raws.size() == 1);
    CHECK(text_of(detail, "tx_hash") == raws[0].hash);
    CHECK(rig.is_mined(raws[0].hash));
    CHECK(leg(detail, "post", "hold:").empty());
    CHECK(leg(detail, "void", "hold:").empty());
    CHECK(leg(detail, "hold", "source:") == "-1000000");
  }
  // Where nobody is, a call succeeds and does nothing: refused before anything is signed.
  const std::size_t sent = rig.proxy->raws().size();
  const Payment to_nobody = pay_in(rig, nothing, "l5-nobody");
  CHECK(rig.reaches(to_nobody.id, "canceled"));
  CHECK(rig.proxy->raws().size() == sent);
  CHECK(rig.count_of(to_nobody, "JOIN slots s ON s.item = i.row WHERE 1") == 0);
  Allowed allowed;
  allowed.unsettled = true;
  rig.check_all(allowed);
}
