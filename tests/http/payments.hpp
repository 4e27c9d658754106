// Owns: the few words that tests of payments over a socket share.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scene.hpp"

namespace holdfast::testing {

inline constexpr const char* intents = "/v1/payment_intents";

inline std::string path_of(const HttpAnswer& created, const std::string& rest = {}) {
  return std::string(intents) + "/" + created.at("id") + rest;
}

/// Waits until the payment is settled, or a minute.
inline HttpAnswer settled(Scene& scene, const HttpAnswer& created, const std::string& token) {
  return scene.get(path_of(created, "?wait=settled&timeout_s=60"), token);
}

inline std::vector<Client> connected(Scene& scene, std::size_t count) {
  std::vector<Client> out;
  out.reserve(count);
  while (out.size() < count) out.emplace_back(scene.port());
  return out;
}

inline std::string signature_body(const std::string& signature) {
  return R"({"signature":")" + signature + "\"}";
}

}  // namespace holdfast::testing
