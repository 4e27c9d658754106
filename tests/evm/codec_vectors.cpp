#include "evm/codec_vectors.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include <boost/json/parse.hpp>

namespace holdfast::evm::vectors {
namespace {

boost::json::object load() {
  const std::string path = HOLDFAST_SOURCE_DIR "/tests/vectors/evm.json";
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  return boost::json::parse(all).as_object();
}

const boost::json::value& member(std::string_view name) {
  static const boost::json::object all = load();
  return all.at(name);
}

template <class T>
T known(std::optional<T> value) {
  if (!value) throw std::runtime_error("a vector is not readable");
  return std::move(*value);
}

}  // namespace

const boost::json::array& section(std::string_view name, std::size_t at_least) {
  const auto& list = member(name).as_array();
  REQUIRE_MESSAGE(list.size() >= at_least, name, " has fewer vectors than it should");
  return list;
}

const boost::json::object& table(std::string_view name) { return member(name).as_object(); }

std::string text(const boost::json::value& value) {
  return std::string(std::string_view(value.as_string()));
}
Bytes bytes(const boost::json::value& hex) { return known(from_hex(text(hex))); }
U256 uint(const boost::json::value& decimal) { return known(U256::from_decimal(text(decimal))); }
std::uint64_t u64(const boost::json::value& decimal) { return known(uint(decimal).to_u64()); }
Address20 address(const boost::json::value& hex) { return known(Address20::from_text(text(hex))); }
Bytes32 bytes32(const boost::json::value& hex) { return known(Bytes32::from_text(text(hex))); }
Hash32 hash32(const boost::json::value& hex) { return known(Hash32::from_text(text(hex))); }
SecretKey key(const boost::json::value& hex) { return SecretKey::parse(text(hex)).value(); }

std::string_view code_name(const Error& error) {
  if (error.code.category() != codec_category()) return "of another category";
  switch (static_cast<CodecError>(error.code.value())) {
    case CodecError::bad_address: return "bad_address";
    case CodecError::bad_checksum: return "bad_checksum";
    case CodecError::bad_rlp: return "bad_rlp";
    case CodecError::bad_transaction: return "bad_transaction";
    case CodecError::bad_signature: return "bad_signature";
    case CodecError::malleable_signature: return "malleable_signature";
    case CodecError::bad_secret_key: return "bad_secret_key";
    case CodecError::bad_abi: return "bad_abi";
    case CodecError::other_call: return "other_call";
    case CodecError::other_event: return "other_event";
    case CodecError::bad_log: return "bad_log";
    case CodecError::differs_from_record: return "differs_from_record";
  }
  return "unknown";
}

}  // namespace holdfast::evm::vectors
