// Owns: what a settle answers for a payment as it stands. Pure.
#pragma once

#include <cstdint>

#include <holdfast/engine/engine.hpp>

namespace holdfast::http::x402 {

enum class Next : std::uint8_t {
  succeed,  ///< its money moved, as deep as callers are told
  refuse,   ///< it ended, and nothing will move
  pending,  ///< what is signed may still move it, or nobody can know yet
  stuck,    ///< in review, and nothing was ever signed that is known of
  give_up,  ///< nothing is signed: it can be taken back
};
Next next_for(const engine::Standing& standing);

}  // namespace holdfast::http::x402
