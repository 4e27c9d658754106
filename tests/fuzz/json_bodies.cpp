// Bytes as a request's JSON body, and as each kind of field. A body that is taken has one canonical
// text, and that text is the same body; a field that is refused is named.
#include "http/json_body.hpp"

#include <boost/json/serialize.hpp>

#include "fuzz/input.hpp"

namespace holdfast {
namespace {

namespace json = boost::json;

bool has_double(const json::value& value) {
  if (const auto* list = value.if_array()) return std::ranges::any_of(*list, has_double);
  if (const auto* object = value.if_object()) {
    return std::ranges::any_of(*object, [](const auto& pair) { return has_double(pair.value()); });
  }
  return value.is_double();
}

void check_canonical(const json::object& object) {
  // A double is not written with the digits it was read from; no field of ours takes one.
  if (has_double(object)) return;
  const std::string text = http::canonical_text(object);
  const http::JsonBody again = http::read_json(text, false);
  ensure(!again.problem, "a canonical text is taken");
  ensure(again.object == object, "a canonical text is the same body");
  ensure(http::canonical_text(again.object) == text, "a body has one canonical text");
}

void check_problem(const std::optional<http::Problem>& problem) {
  if (!problem) return;
  ensure(problem->status == 400, "a bad body is the client's fault");
  fuzz::check_sentence(problem->detail);
}

/// Reads `name` with its reader, alone, and gives what it read; a refusal names the field.
template <class Read>
auto read_field(const json::object& object, std::string_view name, Read read) {
  static const json::object none;
  const json::value* value = object.if_contains(name);
  const json::object alone = value == nullptr ? none : json::object{{name, *value}};
  http::Fields fields(alone, {name});
  auto out = read(fields);
  check_problem(fields.problem());
  if (fields.problem()) {
    ensure(fields.problem()->detail.starts_with(name), "a field that is refused is named");
  }
  return fields.problem() ? std::nullopt : std::optional(std::move(out));
}

void check_fields(const json::object& object) {
  const auto word = read_field(object, "word", [](auto& in) { return in.word("word"); });
  ensure(!word || (!word->empty() && word->size() <= http::longest_text), "a word is bounded");
  const auto text =
      read_field(object, "reason", [](auto& in) { return in.sentence("reason", true); });
  ensure(!text || (!text->empty() && text->size() <= http::longest_reason),
         "a sentence is bounded");
  const auto amount = read_field(object, "amount", [](auto& in) { return in.amount("amount"); });
  ensure(!amount || std::string_view(object.at("amount").as_string()) == amount->decimal(),
         "an amount has one spelling");
  const auto seconds =
      read_field(object, "seconds", [](auto& in) { return in.seconds("seconds", 60); });
  ensure(!seconds || (*seconds >= 0 && *seconds <= 60), "seconds are within their limit");
  const auto hex = read_field(object, "hex", [](auto& in) { return in.hex("hex"); });
  ensure(!hex || from_hex(to_hex(*hex)) == *hex, "hex is read again");
  const auto words = read_field(object, "words", [](auto& in) { return in.words("words", 3); });
  ensure(!words || (!words->empty() && words->size() <= 3), "a list is bounded");
  const auto hash = read_field(object, "hash", [](auto& in) { return in.hash_or_none("hash"); });
  ensure(!hash || domain::TxHash::from_text(hash->hex()) == hash, "a hash is read again");
  const auto list = read_field(object, "hashes", [](auto& in) { return in.hashes("hashes", 3); });
  ensure(!list || list->size() <= 3, "hashes are bounded");
}

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const std::string_view text = as_text({data, size});
  ensure(http::read_json(text, true).problem.has_value() <=
             http::read_json(text, false).problem.has_value(),
         "a body that may be empty is refused less often");
  const http::JsonBody body = http::read_json(text, false);
  check_problem(body.problem);
  if (body.problem) return 0;
  check_canonical(body.object);
  check_fields(body.object);
  const http::Fields fields(body.object,
                            {"word", "reason", "amount", "seconds", "hex", "words", "hash"});
  check_problem(fields.problem());
  return 0;
}
