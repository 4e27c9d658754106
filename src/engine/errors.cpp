// Owns: the engine's error category, and how a store's refusal reads at the public face.
#include "engine/errors.hpp"

#include <string>

namespace holdfast::engine {
namespace {

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "holdfast.engine"; }
  std::string message(int value) const override {
    switch (static_cast<EngineError>(value)) {
      case EngineError::unknown_chain: return "unknown_chain";
      case EngineError::unknown_method: return "unknown_method";
      case EngineError::bad_terms: return "bad_terms";
      case EngineError::bad_validity: return "bad_validity";
      case EngineError::not_found: return "not_found";
      case EngineError::key_reused: return "key_reused";
      case EngineError::bad_authorization: return "bad_authorization";
      case EngineError::already_authorized: return "already_authorized";
      case EngineError::redemption_taken: return "redemption_taken";
      case EngineError::too_late: return "too_late";
      case EngineError::draining: return "draining";
      case EngineError::try_again: return "try_again";
      case EngineError::name_taken: return "name_taken";
      case EngineError::wrong_state: return "wrong_state";
      case EngineError::unproven: return "unproven";
    }
    return "unknown";
  }
};

}  // namespace

boost::system::error_code make_error_code(EngineError error) {
  static const Category category;
  return {static_cast<int>(error), category};
}

Error at_the_face(const Error& error) {
  using store::StoreError;
  const auto code = error.code;
  if (code == StoreError::not_found) return refuse(EngineError::not_found, error.detail);
  if (code == StoreError::key_reused) return refuse(EngineError::key_reused, error.detail);
  if (code == StoreError::name_taken) return refuse(EngineError::name_taken, error.detail);
  if (code == StoreError::already_authorized) {
    return refuse(EngineError::already_authorized, error.detail);
  }
  if (code == StoreError::redemption_taken) {
    return refuse(EngineError::redemption_taken, error.detail);
  }
  if (code == StoreError::letter_ended || code == StoreError::no_help) {
    return refuse(EngineError::wrong_state, error.detail);
  }
  if (code == StoreError::unproven) return refuse(EngineError::unproven, error.detail);
  if (code == StoreError::restored) return refuse(EngineError::try_again, error.detail);
  if (code == StoreError::version_conflict || code == domain::TransitionError::version_conflict) {
    return refuse(EngineError::try_again, "the payment changed at this moment; ask again");
  }
  if (code == domain::TransitionError::terminal || code == domain::TransitionError::illegal_move ||
      code == domain::TransitionError::wrong_actor) {
    return refuse(EngineError::too_late, error.detail);
  }
  return error;
}

}  // namespace holdfast::engine
