#include "engine/unit.hpp"

namespace holdfast::engine {

ports::Awaitable<bool> Unit::is_final(domain::MinedTx tx) {
  if (!halted.empty() || !is_deep(tx)) co_return false;
  const std::uint64_t height = tx.block.height;
  if (view.hash_at(height)) co_return true;
  if (const auto known = view.final_hash_at(height)) co_return *known == tx.block.hash;
  const auto answer = co_await chain.block_hash(height);
  if (answer.ok() == nullptr || !*answer.ok() || !halted.empty()) co_return false;
  view.note_final_hash({height, **answer.ok()});
  co_return **answer.ok() == tx.block.hash;
}

}  // namespace holdfast::engine
