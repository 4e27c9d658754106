#include "evm/logs.hpp"

#include <algorithm>
#include <string>

#include "evm/abi.hpp"
#include "evm/codec_error.hpp"

namespace holdfast::evm {
namespace {

/// All three events have two indexed arguments behind their signature.
Result<void> check_shape(const Log& log, const Bytes32& topic, std::size_t data_size,
                         std::string_view event) {
  const std::string name(event);
  if (log.topics.empty() || log.topics[0] != topic) {
    return refuse(CodecError::other_event, "the log is not of " + name);
  }
  if (log.topics.size() != 3) {
    return refuse(CodecError::bad_log, "a log of " + name + " has 3 topics; this has " +
                                           std::to_string(log.topics.size()));
  }
  if (log.data.size() != data_size) {
    return refuse(CodecError::bad_log, "a log of " + name + " has " + std::to_string(data_size) +
                                           " bytes of data; this has " +
                                           std::to_string(log.data.size()));
  }
  return {};
}

Result<Address20> topic_address(const Bytes32& topic, std::string_view field) {
  abi::Reader read(topic.view(), 1, "a log's topic");
  const Address20 out = read.address(field);
  if (const Result<void> done = read.finish(); !done) {
    return refuse(CodecError::bad_log, done.error().detail);
  }
  return out;
}

Result<AuthorizationEvent> decode_authorization_event(const Log& log, const Bytes32& topic,
                                                      std::string_view event) {
  if (const Result<void> shape = check_shape(log, topic, 0, event); !shape) return shape.error();
  const Result<Address20> authorizer = topic_address(log.topics[1], "authorizer");
  if (!authorizer) return authorizer.error();
  return AuthorizationEvent{log.address, *authorizer, log.topics[2]};
}

}  // namespace

Result<TransferEvent> decode_transfer_event(const Log& log) {
  const Result<void> shape = check_shape(log, topics::transfer, 32, "Transfer");
  if (!shape) return shape.error();
  const Result<Address20> from = topic_address(log.topics[1], "from");
  if (!from) return from.error();
  const Result<Address20> to = topic_address(log.topics[2], "to");
  if (!to) return to.error();
  return TransferEvent{log.address, *from, *to, *U256::from_big_endian(log.data)};
}

Result<AuthorizationEvent> decode_authorization_used(const Log& log) {
  return decode_authorization_event(log, topics::authorization_used, "AuthorizationUsed");
}

Result<AuthorizationEvent> decode_authorization_canceled(const Log& log) {
  return decode_authorization_event(log, topics::authorization_canceled, "AuthorizationCanceled");
}

}  // namespace holdfast::evm
