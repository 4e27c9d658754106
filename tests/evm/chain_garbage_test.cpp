// Whatever a node answers, a read ends in a value or in unknown: nothing is thrown, nothing is a
// no.
#include <random>

#include <doctest/doctest.h>
#include <boost/json/serialize.hpp>

#include "evm/methods_authorization.hpp"

using namespace holdfast;
using namespace holdfast::evm;
using namespace holdfast::evm::test;

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

json::value garbage(Random& random) {
  switch (below(random, 16)) {
    case 0: return nullptr;
    case 1: return true;
    case 2: return -1;
    case 3: return 1.5;
    case 4: return "";
    case 5: return "0x";
    case 6: return "0x0";
    case 7: return "0xzz";
    case 8: return json::value("0x" + std::string(63, 'f'));
    case 9: return json::value("0x" + std::string(64, 'f'));
    case 10: return json::value("0x" + std::string(66, 'f'));
    case 11: return json::value("0x" + std::string(100'000, '0'));
    case 12: return json::array{};
    case 13: return json::array{nullptr, 1, "x"};
    case 14: return json::object{{"hash", 1}};
    default: return "<html><body>502 Bad Gateway</body></html>";
  }
}

/// Replaces, removes or repeats something somewhere inside.
void damage(json::value& value, Random& random) {
  if (json::object* object = value.if_object(); object != nullptr && !object->empty()) {
    const auto at = object->begin() + static_cast<std::ptrdiff_t>(below(random, object->size()));
    if (below(random, 8) == 0) {
      object->erase(at);
    } else {
      damage(at->value(), random);
    }
    return;
  }
  if (json::array* array = value.if_array(); array != nullptr && !array->empty()) {
    json::value& item = (*array)[below(random, array->size())];
    if (below(random, 8) == 0) {
      array->push_back(json::value(item));
    } else {
      damage(item, random);
    }
    return;
  }
  value = garbage(random);
}

/// A value, or unknown: never a refusal that no node gave, never an exception.
bool value_or_unknown(const auto& outcome) {
  return outcome.ok() != nullptr || outcome.unknown() != nullptr;
}

/// A node with something of everything, and one transaction to ask for.
struct Sample : AuthorizationBench {
  Sample() {
    intent = signed_intent();
    hash = node.add(90, {.from = alice,
                         .to = token,
                         .value = "0x1",
                         .input = "0xa9059cbb" + word(1).substr(2) + word(2).substr(2),
                         .logs = {authorization_log(token, alice, intent.ref.hex(), false),
                                  transfer_log(token, alice, bob, 1'000'000)}});
    node.add(90, {.from = bob, .to = alice, .nonce = 1, .succeeded = false});
    node.overrides["eth_getLogs"] =
        always(json::value(json::array{node.blocks[90].receipts[0].at("logs").as_array()[0]}));
    node.overrides["eth_call"] = always(json::value(word(1)));
    node.overrides["eth_estimateGas"] = always(json::value("0xea60"));
    node.overrides["eth_getBalance"] = always(json::value("0x1"));
    node.overrides["eth_feeHistory"] = always(
        json::value{{"baseFeePerGas", json::array{"0x1", "0x2"}}, {"reward", json::array{}}});
    node.overrides["eth_sendRawTransaction"] = always(json::value(hash.hex()));
  }

  /// A damaged base fee may still be a number: one over the ceiling.
  bool quote_ends_well() {
    const auto quote = run(chain.quote(21'000));
    return value_or_unknown(quote) || quote.refused()->kind == ports::RefusalKind::underpriced;
  }

  bool all_end_well() {
    return value_or_unknown(run(chain.head())) && value_or_unknown(run(chain.final_block())) &&
           value_or_unknown(run(chain.block(90))) && value_or_unknown(run(chain.block_hash(90))) &&
           value_or_unknown(run(chain.find(hash))) &&
           value_or_unknown(run(chain.sequences({alice}))) &&
           value_or_unknown(run(chain.native_balance({alice}))) && quote_ends_well() &&
           value_or_unknown(
               run(chain.simulate({alice}, {.target = {bob}, .value = {}, .payload = {}}))) &&
           value_or_unknown(run(chain.consumer({alice}, {0}))) &&
           value_or_unknown(run(chain.post({2}, hash)));
  }

  domain::Intent intent;
  domain::TxHash hash;
};

}  // namespace

TEST_CASE("chain: damaged answers are read as values or as unknown, and never throw") {
  const std::vector<std::string> methods{"eth_getBlockByNumber",
                                         "eth_getBlockReceipts",
                                         "eth_getTransactionReceipt",
                                         "eth_getTransactionByHash",
                                         "eth_getLogs",
                                         "eth_getTransactionCount",
                                         "eth_feeHistory",
                                         "eth_call",
                                         "eth_estimateGas",
                                         "eth_getBalance",
                                         "eth_sendRawTransaction"};
  Random random(20'240'601);
  Sample sample;
  const auto plain = sample.node.overrides;
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    const std::string& method = methods[below(random, methods.size())];
    sample.node.overrides = plain;
    FakeNode honest = sample.node;
    sample.node.overrides[method] = [&](const json::array& params) -> Answer {
      Answer answer = run(honest.call(method, params));
      if (answer.ok() != nullptr) damage(*answer.ok(), random);
      return answer;
    };
    sample.clock.now_ms += 1'000;
    CHECK(sample.all_end_well());
    // By its result alone: it has no ending that is a no of ours.
    const auto seen = run(sample.method.read_authorization(sample.intent));
    const bool with_tx = seen.result == domain::AuthorizationSeen::Result::used_exactly ||
                         seen.result == domain::AuthorizationSeen::Result::used_otherwise ||
                         seen.result == domain::AuthorizationSeen::Result::canceled;
    CHECK(with_tx == seen.tx.has_value());
  }
}
