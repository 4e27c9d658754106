#include "evm/account_name.hpp"

#include <doctest/doctest.h>

namespace holdfast::evm {

TEST_CASE("account name: the curve's generator, the public key of 1, owns a well-known account") {
  // SEC 2, section 2.4.1: the point G, uncompressed.
  const auto point = from_hex(
      "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
      "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8");
  REQUIRE(point.has_value());
  CHECK(account_of_public_key(*point).value == "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf");
}

}  // namespace holdfast::evm
