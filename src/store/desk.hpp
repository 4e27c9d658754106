// Owns: what the operators' desk asks of the store beside the moves of the table: whether a request
// was answered before, the record of bytes posted by hand, and how the accounts stand.
// Must never: move an intent.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/model.hpp"
#include "store/statements.hpp"

namespace holdfast::store {

/// The answer to an operator's request that was answered before: the intent as it was shown then,
/// and the step that did it. Empty: it is new. `not_found`, `key_reused`.
struct EarlierAnswer {
  domain::Intent intent;
  Event step;
};
Result<std::optional<EarlierAnswer>> earlier_answer(Txn& txn, const domain::IntentId& id,
                                                    const Request& request);

/// What a post by hand was answered, and who asked for it: outcome and history in one write.
struct Rebroadcast {
  domain::IntentId id;
  PostRecord post;
  std::string who;
  std::string reason;
  std::optional<Request> request;
};
/// `not_found`; what record_post refuses.
Result<domain::Facts> record_rebroadcast(Txn& txn, const Rebroadcast& done);

/// Every sending account this store ever used, in the order of first use.
struct AccountNumbers {
  domain::ChainId chain;
  domain::Address account;
  std::uint64_t epoch = 0;
  std::uint32_t unconsumed = 0;
  std::uint32_t handed_over = 0;
  std::optional<domain::Sequence> lowest_open;
  std::optional<domain::Sequence> highest_open;
  std::optional<domain::Sequence> highest_used;
};
std::vector<AccountNumbers> account_numbers(Txn& txn);

}  // namespace holdfast::store
