// Owns: how a store's refusal reads at the public face.
#pragma once

#include <holdfast/engine/engine.hpp>
#include "store/model.hpp"

namespace holdfast::engine {

/// The store's and the table's refusals as EngineErrors; anything else unchanged.
Error at_the_face(const Error& error);

}  // namespace holdfast::engine
