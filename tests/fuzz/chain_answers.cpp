// Lines of bytes as what a node answers to the chain's own questions: "eth_call {…}" is the next
// answer to that call, and what no line speaks of is answered honestly. Whatever is asked then ends
// in a value, in unknown, or in the node's own no; nothing is thrown.
#define DOCTEST_CONFIG_IMPLEMENT  // chain_node.cpp checks its own work with it
#include <doctest/doctest.h>

#include <boost/json/parse.hpp>

#include "evm/methods_authorization.hpp"
#include "evm/node_errors.hpp"
#include "fuzz/input.hpp"

namespace holdfast {
namespace {

using namespace evm;
using namespace evm::test;

/// One line's answer: the node's error when it has one, else the result.
Answer answer_from(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error);
  if (error) return ports::Unknown{"the answer is not JSON", false};
  if (const auto* object = value.if_object(); object != nullptr && object->contains("error")) {
    return outcome_of_error(object->at("error"));
  }
  return value;
}

/// A node with something of everything, and what the input says instead.
struct Scene : AuthorizationBench {
  explicit Scene(std::string_view text) {
    hash = node.add(90, {.from = alice,
                         .to = token,
                         .value = "0x1",
                         .input = "0xa9059cbb" + word(1).substr(2) + word(2).substr(2),
                         .logs = {authorization_log(token, alice, intent.ref.hex(), false),
                                  transfer_log(token, alice, bob, 1'000'000)}});
    node.overrides["eth_getLogs"] =
        always(json::value(json::array{node.blocks[90].receipts[0].at("logs").as_array()[0]}));
    node.overrides["eth_estimateGas"] = always(json::value("0xea60"));
    node.overrides["eth_getBalance"] = always(json::value("0x1"));
    node.overrides["eth_sendRawTransaction"] = always(json::value(hash.hex()));
    node.overrides["eth_feeHistory"] = always(
        json::value{{"baseFeePerGas", json::array{"0x1", "0x2"}}, {"reward", json::array{}}});
    for (const std::string_view line : fuzz::parts_of(text, "\n", 32)) take(line);
  }

  void take(std::string_view line) {
    const std::string method(fuzz::next_part(line, " "));
    if (!method.starts_with("eth_")) return;
    auto& queue = said[method];
    queue.push_back(answer_from(line));
    if (queue.back().refused() != nullptr) node_said_no = true;
    node.overrides[method] = [&queue](const json::array&) {
      const Answer next = queue.front();
      if (queue.size() > 1) queue.erase(queue.begin());
      return next;
    };
  }

  /// The call's outcome is one that its answers can have.
  template <class T>
  void ask(ports::Awaitable<ports::Outcome<T>> call, bool may_refuse = false) {
    const ports::Outcome<T> outcome = run(std::move(call));
    ensure(outcome.not_sent() == nullptr, "what was asked was sent");
    ensure(may_refuse || node_said_no || outcome.refused() == nullptr,
           "a no that is neither the node's nor allowed: " + outcome.text());
    fuzz::check_sentence(outcome.text());
  }

  void ask_everything() {
    ask(chain.check(), true);  // it serves another chain
    ask(chain.head());
    ask(chain.final_block());
    ask(chain.block(90));
    ask(chain.block_hash(90));
    ask(chain.find(hash));
    ask(chain.sequences({alice}));
    ask(chain.native_balance({alice}));
    ask(chain.quote(21'000), true);  // a base fee over the ceiling
    ask(chain.simulate({alice}, {.target = {bob}, .value = {}, .payload = {}}), true);  // no code
    ask(chain.consumer({alice}, {0}));
    ask(chain.post({2}, hash));
    check_authorization();
  }

  void check_authorization() {
    using Result = domain::AuthorizationSeen::Result;
    const auto seen = run(method.read_authorization(intent));
    const bool with_tx = seen.result == Result::used_exactly ||
                         seen.result == Result::used_otherwise || seen.result == Result::canceled;
    ensure(with_tx == seen.tx.has_value(), "an authorization's use is seen with its transaction");
    const auto verified = run(method.verify(intent, *intent.authorization, {}));
    if (!verified) fuzz::check_sentence(verified.error().detail);
  }

  static const domain::Intent& known_intent() {
    static const domain::Intent made = signed_intent();
    return made;
  }

  const domain::Intent& intent = known_intent();
  domain::TxHash hash;
  std::map<std::string, std::vector<Answer>> said;
  bool node_said_no = false;
};

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  holdfast::Scene(holdfast::as_text({data, size})).ask_everything();
  return 0;
}
