#include "evm/codec_error.hpp"

#include <string>

#include <boost/system/error_category.hpp>

namespace holdfast::evm {
namespace {

const char* text_of(CodecError code) {
  switch (code) {
    case CodecError::bad_address: return "not an address";
    case CodecError::bad_checksum: return "an address with a wrong checksum";
    case CodecError::bad_rlp: return "not canonical RLP";
    case CodecError::bad_transaction: return "not a transaction this engine sends";
    case CodecError::bad_signature: return "not a signature";
    case CodecError::malleable_signature: return "a malleable signature";
    case CodecError::bad_secret_key: return "not a secret key";
    case CodecError::bad_abi: return "not the ABI encoding expected";
    case CodecError::other_call: return "a call of another function";
    case CodecError::other_event: return "a log of another event";
    case CodecError::bad_log: return "a log that does not fit its event";
    case CodecError::differs_from_record: return "signed bytes that differ from the record";
  }
  return "an unknown codec error";
}

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "holdfast.evm.codec"; }
  std::string message(int value) const override { return text_of(static_cast<CodecError>(value)); }
};

}  // namespace

const boost::system::error_category& codec_category() {
  static const Category category;
  return category;
}

boost::system::error_code make_error_code(CodecError code) {
  return {static_cast<int>(code), codec_category()};
}

}  // namespace holdfast::evm
