#include "posted_tx.hpp"

#include "books.hpp"
#include "evm/eip3009.hpp"
#include "evm/erc20.hpp"
#include "evm/rlp.hpp"
#include "signer_notes.hpp"

namespace holdfast::load {

namespace {

constexpr Byte type_1559 = 0x02;
constexpr std::size_t field_count = 12;

}  // namespace

std::optional<PostedTx> read_posted(ByteView bytes) {
  if (bytes.empty() || bytes[0] != type_1559) return std::nullopt;
  const auto list = evm::rlp::decode(bytes.subspan(1));
  if (!list || !list->is_list || list->items.size() != field_count) return std::nullopt;
  const auto& fields = list->items;
  const auto nonce = evm::rlp::to_u64(fields[1], "nonce");
  const auto max_fee = evm::rlp::to_uint(fields[3], "max_fee");
  const auto to = evm::Address20::from(fields[5].bytes);
  const auto value = evm::rlp::to_uint(fields[6], "value");
  const ByteView data = fields[7].bytes;
  if (!nonce || !max_fee || !to || !value) return std::nullopt;

  PostedTx out;
  const ByteView s = fields[11].bytes;
  if (s.size() >= SignerNotes::key_size) out.signed_by = head_of(s.last(SignerNotes::key_size));
  out.nonce = *nonce;
  out.max_fee = *max_fee;
  out.payee = *to;
  out.amount = *value;
  if (data.size() >= domain::Ref::size) {
    out.ref = domain::Ref::from(data.last(domain::Ref::size));
  }
  const bool moves_native = !value->is_zero() || data.size() <= domain::Ref::size;
  if (moves_native) return out;
  out.token = *to;
  if (const auto signed_call = evm::decode_transfer_with_authorization(data)) {
    const evm::TransferAuthorization& what = signed_call->authorization;
    out.payee = what.to;
    out.amount = what.value;
    out.ref = domain::Ref{what.nonce.value};
    out.authorization = AuthorizationKey{what.from, what.nonce};
    return out;
  }
  const auto call = evm::decode_transfer(data);
  if (!call) return std::nullopt;
  out.payee = call->to;
  out.amount = call->amount;
  if (!call->ref) out.ref.reset();
  return out;
}

}  // namespace holdfast::load
