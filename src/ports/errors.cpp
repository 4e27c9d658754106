// Owns: the error categories of the ports: short texts for logs; the sentence for people is in
// Error::detail.
#include <string>

#include <boost/system/error_category.hpp>

#include <holdfast/ports/chain.hpp>
#include <holdfast/ports/method.hpp>

namespace holdfast::ports {
namespace {

const char* text_of(ChainError error) {
  switch (error) {
    case ChainError::bad_address: return "not an account of this chain";
    case ChainError::bad_asset: return "not an asset of this chain";
    case ChainError::wrong_bytes: return "signed bytes that differ from the record";
  }
  return "an unknown chain error";
}

const char* text_of(VerifyError error) {
  switch (error) {
    case VerifyError::bad_terms: return "terms this method cannot pay";
    case VerifyError::bad_signature: return "not a signature";
    case VerifyError::wrong_signer: return "signed by somebody else, or over other terms";
    case VerifyError::wrong_nonce: return "signed with another nonce";
    case VerifyError::not_yet_valid: return "not valid yet";
    case VerifyError::expired: return "expired, or too close to its end";
    case VerifyError::already_used: return "used already";
    case VerifyError::canceled: return "canceled by its signer";
    case VerifyError::insufficient_funds: return "the payer has too little";
    case VerifyError::simulation_failed: return "the contract refuses it";
    case VerifyError::node_trouble: return "no readable answer from the node";
  }
  return "an unknown verification error";
}

class ChainCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "holdfast.chain"; }
  std::string message(int value) const override { return text_of(static_cast<ChainError>(value)); }
};

class VerifyCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "holdfast.verify"; }
  std::string message(int value) const override { return text_of(static_cast<VerifyError>(value)); }
};

}  // namespace

boost::system::error_code make_error_code(ChainError error) {
  static const ChainCategory category;
  return {static_cast<int>(error), category};
}

boost::system::error_code make_error_code(VerifyError error) {
  static const VerifyCategory category;
  return {static_cast<int>(error), category};
}

}  // namespace holdfast::ports
