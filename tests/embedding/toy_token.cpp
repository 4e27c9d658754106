#include "toy_token.hpp"

#include <algorithm>
#include <sstream>

#include <holdfast/domain/evidence.hpp>

namespace line_server {
namespace {

using namespace hf::domain;
using hf::ports::VerifyError;

std::string unsigned_text(const ToyTransfer& transfer) {
  const Authorization& authorization = transfer.authorization;
  std::ostringstream out;
  out << transfer.from.value << ' ' << transfer.to.value << ' ' << transfer.value.decimal() << ' '
      << authorization.nonce.hex() << ' ' << authorization.validity.after_s << ' '
      << authorization.validity.before_s;
  return out.str();
}

ToyTransfer transfer_of(const Intent& intent, const Authorization& authorization) {
  return {intent.terms.payer, intent.terms.payee, intent.terms.amount, authorization};
}

}  // namespace

hf::Bytes signature_of(const ToyTransfer& transfer) {
  const hf::Digest made =
      hf::FieldHash("toy/transfer").add(toy_token.value).add(unsigned_text(transfer)).finish();
  return {made.begin(), made.end()};
}

std::string text_of(const ToyTransfer& transfer) {
  return unsigned_text(transfer) + ' ' + hf::to_0x(transfer.authorization.signature);
}

std::optional<ToyTransfer> read_transfer(hf::ByteView payload) {
  std::istringstream in{std::string(hf::as_text(payload))};
  std::string value, nonce, signature;
  ToyTransfer out;
  Validity& window = out.authorization.validity;
  in >> out.from.value >> out.to.value >> value >> nonce >> window.after_s >> window.before_s >>
      signature;
  const auto amount = hf::U256::from_decimal(value);
  const auto number = Nonce::from_text(nonce);
  const auto bytes = hf::from_hex(signature);
  if (!in || !amount || !number || !bytes) return std::nullopt;
  out.value = *amount;
  out.authorization.nonce = *number;
  out.authorization.signature = *bytes;
  return out;
}

std::vector<hf::ports::AssetInfo> ToyAuthorization::assets() const {
  return {{toy_token, "Toy", "1", {name().value}}};
}

hf::Result<void> ToyAuthorization::check_terms(const Terms& terms) const {
  if (terms.asset == toy_token) return {};
  return hf::refuse(VerifyError::bad_terms, "asset: not the token");
}

hf::ports::Awaitable<hf::Result<void>> ToyAuthorization::verify(Intent intent,
                                                                Authorization authorization,
                                                                hf::ports::Moment now) {
  const ToyTransfer transfer = transfer_of(intent, authorization);
  if (authorization.signature != signature_of(transfer)) {
    co_return hf::refuse(VerifyError::wrong_signer, "signature: not the payer's");
  }
  if (authorization.validity.before_s <= now.wall_s) {
    co_return hf::refuse(VerifyError::expired, "validity.before_s: has passed");
  }
  if (chain_.use_of(transfer.from, authorization.nonce) != nullptr) {
    co_return hf::refuse(VerifyError::already_used, "nonce: used");
  }
  co_return hf::Result<void>{};
}

hf::Result<hf::ports::Call> ToyAuthorization::call(const Intent& intent) const {
  if (!intent.authorization) {
    return hf::refuse(VerifyError::bad_terms, "authorization: not signed yet");
  }
  const std::string text = text_of(transfer_of(intent, *intent.authorization));
  return hf::ports::Call{{toy_token.value}, {}, {text.begin(), text.end()}};
}

Evidence ToyAuthorization::evidence(const Intent& intent, const MinedTx& tx, bool) const {
  return evidence_of_authorization(intent, tx);
}

hf::ports::Awaitable<AuthorizationSeen> ToyAuthorization::read_authorization(Intent intent) {
  using Seen = AuthorizationSeen::Result;
  AuthorizationSeen out;
  const MinedTx* tx = chain_.use_of(intent.terms.payer, intent.authorization->nonce);
  if (tx == nullptr) {
    out.result = Seen::unused;
    out.unused_at_final_s = chain_.final_time_s();
    co_return out;
  }
  const Moved moved = evidence_of_authorization(intent, *tx).moved;
  out.result = moved == Moved::exact ? Seen::used_exactly : Seen::used_otherwise;
  out.tx = *tx;
  out.is_final = tx->block.height <= chain_.final_height();
  co_return out;
}

}  // namespace line_server
