// Owns: who may be told that a payment succeeded. Exactly one success is delivered for a payment:
// whoever is told it hands something over for the money.
// Must never: let two askers that are strangers to one another both be told.
#pragma once

#include <optional>

#include <holdfast/base/sha256.hpp>
#include <holdfast/domain/ids.hpp>

namespace holdfast::domain {

/// Of a caller and their key: the same asker, asking again. Empty: nobody that could be known
/// again.
using AskerKey = FixedBytes<32, struct AskerKeyTag>;

/// Who asks to be told, in which life of the engine.
struct SuccessAsker {
  InstanceId life;
  std::optional<AskerKey> key;
  Digest fingerprint{};  ///< of the request
};

/// What is on record. `offered` before the answer leaves, `delivered` after it was written.
struct SuccessTold {
  InstanceId life;
  std::optional<AskerKey> key;
  Digest fingerprint{};
  bool is_delivered = false;
};

enum class SuccessOffer {
  first,       ///< nobody was told yet, or the one it was offered to is gone: tell
  again,       ///< the same asker with the same request: tell the same again
  taken,       ///< somebody else was told, or is being told: a duplicate
  key_reused,  ///< the same asker's key with another request
};

/// The rule. What was offered in a life of the engine that ended before it said `delivered` was not
/// told, as far as anybody knows. (A crash between the write and its note can so deliver twice.)
SuccessOffer offer_of(const std::optional<SuccessTold>& told, const SuccessAsker& asker);

}  // namespace holdfast::domain
