// Bytes from a node's connection as an HTTP answer. However they are cut on their way, they say the
// same; and what a node asks for in Retry-After is bounded.
#include "evm/http_rpc_message.hpp"
#include "fuzz/input.hpp"

namespace holdfast {
namespace {

using Reader = evm::HttpAnswerReader;
using State = Reader::State;

constexpr std::size_t body_limit = 512;

/// Puts the bytes by `step` at a time, and then the end.
State read_by(Reader& reader, std::string_view bytes, std::size_t step) {
  State state = State::more;
  while (state == State::more && !bytes.empty()) {
    state = reader.put(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  return state == State::more ? reader.end() : state;
}

void check_pause(std::string_view field) {
  constexpr std::int64_t wall_ms = 1'767'225'600'000;
  const auto pause = evm::retry_after_ms(field, wall_ms);
  ensure(!pause || (*pause >= 0 && *pause <= 30'000), "a pause is within 0 and 30 s");
}

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const std::string_view bytes = as_text({data, size});
  check_pause(bytes);
  Reader whole(body_limit);
  Reader cut(body_limit);
  const State state = read_by(whole, bytes, std::max<std::size_t>(size, 1));
  ensure(read_by(cut, bytes, 1) == state, "an answer ends the same however it is cut");
  if (state != State::done) {
    fuzz::check_sentence(whole.trouble());
    return 0;
  }
  const evm::HttpAnswer one = whole.take();
  const evm::HttpAnswer other = cut.take();
  ensure(
      one.status == other.status && one.body == other.body && one.retry_after == other.retry_after,
      "an answer says the same however it is cut");
  ensure(one.body.size() <= body_limit, "a body is bounded");
  if (one.retry_after) check_pause(*one.retry_after);
  return 0;
}
