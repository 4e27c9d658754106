#include "evm/revert.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "evm/abi.hpp"
#include "evm/utf8.hpp"

namespace holdfast::evm {
namespace {

constexpr std::size_t longest_text = 256;
constexpr abi::Selector error_selector{0x08, 0xc3, 0x79, 0xa0};  // Error(string)
constexpr abi::Selector panic_selector{0x4e, 0x48, 0x7b, 0x71};  // Panic(uint256)

struct PanicName {
  std::uint64_t code;
  const char* name;
};

// The Solidity documentation, "Panic via assert and Error via require".
constexpr PanicName panics[] = {
    {0x00, "a panic of the compiler's"},
    {0x01, "an assertion failed"},
    {0x11, "arithmetic overflow or underflow"},
    {0x12, "division by zero"},
    {0x21, "a value out of its enum's range"},
    {0x22, "a storage byte array is wrongly encoded"},
    {0x31, "pop on an empty array"},
    {0x32, "an index out of bounds"},
    {0x41, "out of memory"},
    {0x51, "a call of an uninitialised function"},
};

/// Reordering and line-breaking characters: they can make a log line read as another one.
bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

/// Not through abi::Reader: contracts that assemble their reason by hand leave out the padding, and
/// a reason lost to a missing zero helps nobody.
std::optional<std::string> error_text(ByteView arguments) {
  if (arguments.size() < 64) return std::nullopt;
  const auto offset = U256::from_big_endian(arguments.first(32));
  const auto length = U256::from_big_endian(arguments.subspan(32, 32))->to_u64();
  const ByteView rest = arguments.subspan(64);
  if (offset != U256(32) || !length || *length > rest.size()) return std::nullopt;
  return printable(rest.first(*length), longest_text);
}

std::optional<std::string> panic_text(ByteView arguments) {
  abi::Reader read(arguments, 1, "the revert");
  const U256 code = read.uint();
  if (!read.finish()) return std::nullopt;
  const auto* known =
      std::ranges::find_if(panics, [&](const PanicName& panic) { return code == panic.code; });
  const bool found = known != std::end(panics);
  const std::string digits = code < U256(16) ? "0x0" + code.quantity().substr(2) : code.quantity();
  return "panic " + digits + ": " + (found ? known->name : "an unknown code");
}

}  // namespace

std::string printable(ByteView text, std::size_t limit) {
  static constexpr std::string_view cut = "…";
  std::string out;
  std::size_t fits = 0;  // the longest prefix of `out` that leaves room for the mark of a cut
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    const std::size_t size = std::max<std::size_t>(next.size, 1);
    if (next.size == 0 || is_control(next.value)) {
      out += '?';
    } else {
      out += as_text(text.first(size));
    }
    text = text.subspan(size);
    if (out.size() > limit) return out.substr(0, fits).append(limit < cut.size() ? "" : cut);
    if (out.size() + cut.size() <= limit) fits = out.size();
  }
  return out;
}

Revert decode_revert(ByteView data) {
  if (data.empty()) return {RevertKind::empty, "reverted without a reason"};
  abi::Selector selector{};
  if (data.size() < selector.size()) return {RevertKind::custom, "custom error " + to_0x(data)};
  std::ranges::copy(data.first(selector.size()), selector.begin());
  const ByteView arguments = data.subspan(selector.size());
  if (selector == error_selector) {
    if (auto text = error_text(arguments)) return {RevertKind::error, std::move(*text)};
  }
  if (selector == panic_selector) {
    if (auto text = panic_text(arguments)) return {RevertKind::panic, std::move(*text)};
  }
  return {RevertKind::custom, "custom error " + to_0x(selector)};
}

}  // namespace holdfast::evm
