// Owns: reading tests/vectors/evm.json, what viem and ethers say (tools/vectors makes it).
#pragma once

#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/system/result.hpp>

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/base/uint256.hpp>

#include "evm/address.hpp"
#include "evm/codec_error.hpp"
#include "evm/keccak.hpp"
#include "evm/secp.hpp"

namespace holdfast::evm::vectors {

/// The list of vectors by this name; a test fails when it is missing or has fewer than `at_least`.
const boost::json::array& section(std::string_view name, std::size_t at_least);
const boost::json::object& table(std::string_view name);

std::string text(const boost::json::value& value);
Bytes bytes(const boost::json::value& hex);
U256 uint(const boost::json::value& decimal);
std::uint64_t u64(const boost::json::value& decimal);
Address20 address(const boost::json::value& hex);
Bytes32 bytes32(const boost::json::value& hex);
Hash32 hash32(const boost::json::value& hex);
SecretKey key(const boost::json::value& hex);

/// The enumerator's name, as the vectors spell it.
std::string_view code_name(const Error& error);

template <class T>
std::string_view code_name(const Result<T>& result) {
  return result ? "accepted" : code_name(result.error());
}

}  // namespace holdfast::evm::vectors
