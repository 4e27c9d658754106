// Owns: every combination of facts, answers, policy and moment that decide is tried with, as small
// numbers that can be counted through or drawn.
#pragma once

#include <array>
#include <cstddef>
#include <random>

#include "domain/decide_scene.hpp"

namespace holdfast::test {

enum Dimension : std::size_t {
  dim_state,
  dim_bearer,
  dim_cancel,
  dim_time,
  dim_attempts,
  dim_slot,
  dim_send_slot,
  dim_simulation,
  dim_authorization,
  dim_search,
  dim_final_sequence,
  dim_consumer,
  dim_post,
  dim_stored_now,
  dim_reserve,
  dim_sign,
  dim_kind_of_chain,
  dim_budget,
  dim_slots_taken,
  dim_stuck,
  dim_ref_found,
  dimensions,
};

inline constexpr std::array<std::size_t, dimensions> choices = {8, 2,  2, 5, 10, 9, 3, 5, 10, 10, 3,
                                                                6, 11, 2, 3, 4,  3, 2, 2, 3,  4};

using Choice = std::array<std::size_t, dimensions>;

Scene build(const Choice& choice);

/// Answers as the world may give them, whatever was asked before.
void answer_simulation(Scene& scene, std::size_t choice);
void answer_authorization(Scene& scene, std::size_t choice);
void answer_search(Scene& scene, std::size_t choice);
void answer_final_sequence(Scene& scene, std::size_t choice);
std::optional<MinedTx> consumer_choice(const Scene& scene, std::size_t choice);

using Random = std::mt19937_64;
inline std::size_t draw(Random& random, std::size_t below) { return random() % below; }

}  // namespace holdfast::test
