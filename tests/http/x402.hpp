// Owns: what tests of the x402 routes send: whole payments of both versions as JSON that a test may
// spoil, signed as the simulated chain wants it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <holdfast/domain/intent.hpp>

#include "scene.hpp"

namespace holdfast::testing::x402 {

inline const std::string payer = "0x1111111111111111111111111111111111111111";
inline const std::string payee = "0x2222222222222222222222222222222222222222";
inline const std::string other = "0x3333333333333333333333333333333333333333";
/// Of upper and lower case; the chain writes it in lower case.
inline const std::string token = "0xAbAbAbAbAbAbAbAbAbAbAbAbAbAbAbAbAbAbAbAb";
inline const std::string token_name = "USD Coin";
inline const std::string token_version = "2";
inline const std::string network = "sim:1";
inline const std::string network_v1 = "sim-net";
inline constexpr std::int64_t far_s = 4'102'444'800;  ///< the year 2100

struct Payment {
  int version = 2;
  std::string amount = "1000000";
  std::uint64_t nonce = 1;
  std::string payment_id = {};
  std::int64_t valid_after_s = 0;
  std::int64_t valid_before_s = far_s;
};
/// The body of /verify and /settle.
boost::json::object body_of(const Payment& payment);
/// A payment by Permit2; its signature is good for nothing.
boost::json::object permit2_body();

using Path = std::vector<std::string_view>;
/// The member at this path; throws where there is none.
boost::json::value& at(boost::json::object& body, const Path& path);
void remove(boost::json::object& body, const Path& path);
std::string text(const boost::json::object& body);

/// A server that is a facilitator for whoever comes.
SceneOptions open_scene();
/// Until the chain was asked for the first time.
void wait_until_open(Scene& scene, const std::string& token_of_key = {});
/// POSTs to /x402/settle.
HttpAnswer settle(Scene& scene, const std::string& body, const std::string& token_of_key = {},
                  const std::string& key = {});
HttpAnswer verify(Scene& scene, const std::string& body, const std::string& token_of_key = {});

/// Every answer of /settle has these, whatever was asked.
void check_settle_shape(const HttpAnswer& answer);

}  // namespace holdfast::testing::x402
