#include "engine/unit.hpp"

namespace holdfast::engine {

ports::Awaitable<bool> Unit::is_final(domain::MinedTx tx) {
  if (!halted.empty() || !is_deep(tx)) co_return false;
  const std::uint64_t height = tx.block.height;
  if (view.hash_at(height)) co_return true;
  // Another hash is asked for again: what was noted may be of a node that was behind.
  if (view.final_hash_at(height) == tx.block.hash) co_return co_await noted_stands(height);
  const auto answer = co_await chain.block_hash(height);
  if (answer.ok() == nullptr || !*answer.ok() || !halted.empty()) co_return false;
  view.note_final_hash({height, **answer.ok()});
  if (**answer.ok() != tx.block.hash) co_return false;
  co_return co_await noted_stands(height);
}

ports::Awaitable<bool> Unit::noted_stands(std::uint64_t height) {
  const domain::BlockRef noted = final_noted;
  const bool raises = noted.height > 0 && height > noted.height && !view.hash_at(height);
  const NotedSeen now{noted, view.tip().value_or(domain::BlockRef{})};
  if (!raises || noted_seen == now) co_return true;
  const auto answer = co_await chain.block_hash(noted.height);
  if (answer.ok() == nullptr || !*answer.ok()) co_return false;
  if (**answer.ok() == noted.hash) {
    noted_seen = now;
    co_return true;
  }
  if (final_noted == noted) lost_final = noted.height;  // not one that was acknowledged meanwhile
  co_return false;
}

}  // namespace holdfast::engine
