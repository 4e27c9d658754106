// Owns: the tables of a store on SQLite, as numbered migrations.
// Must never: change a migration that was released: a store remembers only its number.
#pragma once

#include <span>

namespace holdfast::sqlite {

/// Scripts, numbered by their place starting at 1 (the schema's version after it ran). Each runs
/// whole, in a transaction of its own that also records its number.
std::span<const char* const> migrations();

}  // namespace holdfast::sqlite
