#include "store/model.hpp"

#include "domain/enum_text.hpp"
#include "domain/error_category.hpp"
#include "store/statements.hpp"

namespace holdfast::store {
namespace {

constexpr domain::EnumText<StoreError> error_texts[] = {
    {StoreError::not_found, "there is no such payment"},
    {StoreError::version_conflict, "the payment changed meanwhile"},
    {StoreError::key_reused, "the idempotency key came with another request before"},
    {StoreError::stale_receipt, "the job was handed to somebody else, or is gone"},
    {StoreError::stale_epoch, "another engine has taken over the account"},
    {StoreError::account_full, "every account has as many open slots as it may have"},
    {StoreError::released_slot_unusable, "the released number cannot be taken again"},
    {StoreError::redemption_taken, "the authorization belongs to another payment"},
    {StoreError::not_signable, "nothing may be signed for this slot"},
    {StoreError::already_authorized, "the payment is authorized by another authorization"},
    {StoreError::unproven, "the proof does not hold"},
    {StoreError::name_taken, "the name is taken"},
    {StoreError::illegal_slot_move, "no such move between a slot's states"},
    {StoreError::bad_key, "the key cannot be added as it is"},
    {StoreError::letter_ended, "the dead letter was ended before"},
    {StoreError::restored, "the store was put back from a backup"},
    {StoreError::no_help, "no job can help the payment where it stands"},
};

}  // namespace

boost::system::error_code make_error_code(StoreError error) {
  static const domain::TextCategory category("holdfast.store", error_texts);
  return {static_cast<int>(error), category};
}

void damaged(std::string_view what) {
  throw sql::Failure(sql::Cause::corrupt,
                     "the store is damaged: it holds " + std::string(what) + " where none can be");
}

}  // namespace holdfast::store
