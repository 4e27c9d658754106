// Owns: the rules for Idempotency-Key, what makes two requests the same, and who is being answered
// at this moment.
// Must never: remember an answer: that is the store's, in one commit with what it answers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include <holdfast/base/sha256.hpp>

#include "http/message.hpp"
#include "http/problem.hpp"

namespace holdfast::http {

/// The one Idempotency-Key: 1 to 255 printable ASCII characters, not all blank. `missing_header`,
/// `repeated_header`, `bad_header` otherwise.
struct KeyRead {
  std::optional<Problem> problem;
  std::string key;
};
KeyRead read_idempotency_key(const Request& request);

/// SHA-256 over method, path and the body's canonical text: the same request in another spelling
/// (field order, blanks) is the same request.
Digest fingerprint(const Request& request, std::string_view canonical_body);

/// The requests being answered now, by caller, route and key. A second one is told to come back:
/// what it would be answered is not known yet. In memory only, so a restart frees every key.
class InProgress {
 public:
  /// Holds its place until destroyed.
  class Claim {
   public:
    Claim(std::shared_ptr<std::unordered_set<std::string>> places, std::string place)
        : places_(std::move(places)), place_(std::move(place)) {}
    Claim(Claim&&) = default;
    Claim& operator=(Claim&&) = delete;
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim() {
      if (places_) places_->erase(place_);
    }

   private:
    std::shared_ptr<std::unordered_set<std::string>> places_;
    std::string place_;
  };

  /// Empty when the same caller's request with this key and path is being answered.
  std::optional<Claim> claim(std::string_view caller, const Request& request, std::string_view key);

 private:
  std::shared_ptr<std::unordered_set<std::string>> places_ =
      std::make_shared<std::unordered_set<std::string>>();
};

Problem still_running();

}  // namespace holdfast::http
