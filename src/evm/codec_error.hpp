// Owns: the codes of everything the EVM codec refuses.
// Must never: name a payment; what a refusal means for one is decided by its method.
#pragma once

#include <boost/system/error_code.hpp>

namespace holdfast::evm {

/// No refusal depends on time or on the network: the same input is refused again, so a retry of
/// the same bytes is useless.
enum class CodecError {
  bad_address = 1,      ///< not "0x" and 40 hex digits
  bad_checksum,         ///< mixed case that is not the EIP-55 form
  bad_rlp,              ///< not canonical RLP, or over a limit
  bad_transaction,      ///< canonical RLP, yet no EIP-1559 transaction we send
  bad_signature,        ///< wrong length, v, r or s, or nobody could have made it
  malleable_signature,  ///< s in the upper half: a second form of a good signature
  bad_secret_key,       ///< not 32 bytes between 1 and the curve's order
  bad_abi,              ///< call data or an answer that is not what its signature says
  other_call,           ///< well-formed call data of another function
  other_event,          ///< a log of another event
  bad_log,              ///< a log of this event with other topics or data than it has
  differs_from_record,  ///< signed bytes that say something else than the record
};

const boost::system::error_category& codec_category();
boost::system::error_code make_error_code(CodecError code);

}  // namespace holdfast::evm

template <>
struct boost::system::is_error_code_enum<holdfast::evm::CodecError> : std::true_type {};
