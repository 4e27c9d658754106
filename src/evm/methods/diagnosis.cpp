#include "evm/methods/diagnosis.hpp"

#include "evm/chain_calls.hpp"

namespace holdfast::evm {

namespace json = boost::json;

namespace {

constexpr std::size_t answer_limit = 4'096;

RpcCall call_of(const Question& question) {
  const std::string contract = to_checksum(question.contract);
  if (question.payload.empty()) return {"eth_getCode", json::array{contract, "latest"}};
  json::array params;
  params.emplace_back(json::object{{"to", contract}, {"data", to_0x(question.payload)}});
  params.emplace_back("latest");
  return {"eth_call", std::move(params)};
}

std::optional<Bytes> read_answer(const Question& question, const Answer& answer) {
  if (answer.ok() == nullptr) {
    const bool reverted =
        answer.refused() != nullptr && answer.refused()->kind == ports::RefusalKind::reverted;
    return reverted ? std::optional(Bytes{}) : std::nullopt;
  }
  if (question.payload.empty()) {
    const json::string* text = answer.ok()->if_string();
    if (text == nullptr || !text->starts_with("0x")) return std::nullopt;
    return Bytes(text->size() > 2 ? 1 : 0, Byte{1});
  }
  Read<Bytes> read = read_data(*answer.ok(), "the contract's answer", answer_limit);
  // Longer than anything that is asked for here: no answer to this question.
  return read ? std::move(*read) : Bytes{};
}

}  // namespace

ports::Awaitable<std::optional<std::vector<Bytes>>> ask_together(EvmChain& chain,
                                                                 std::vector<Question> questions) {
  std::vector<RpcCall> calls;
  calls.reserve(questions.size());
  for (const Question& question : questions) calls.push_back(call_of(question));
  const std::vector<Answer> answers = co_await call_all(chain.rpc(), std::move(calls));
  std::vector<Bytes> out;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    std::optional<Bytes> read = read_answer(questions[i], answers[i]);
    if (!read) co_return std::nullopt;
    out.push_back(std::move(*read));
  }
  co_return out;
}

}  // namespace holdfast::evm
