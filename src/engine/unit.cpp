#include "engine/unit.hpp"

namespace holdfast::engine {

ports::Awaitable<bool> Unit::is_final(domain::MinedTx tx) {
  if (!halted.empty() || !is_deep(tx)) co_return false;
  const std::uint64_t height = tx.block.height;
  if (view.hash_at(height)) co_return true;
  // Another hash is asked for again: what was noted may be of a node that was behind.
  if (view.final_hash_at(height) == tx.block.hash) co_return true;
  const auto answer = co_await chain.block_hash(height);
  if (answer.ok() == nullptr || !*answer.ok() || !halted.empty()) co_return false;
  view.note_final_hash({height, **answer.ok()});
  co_return **answer.ok() == tx.block.hash;
}

}  // namespace holdfast::engine
