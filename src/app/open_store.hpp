// Owns: how the verbs find and open a store: for reading beside a running engine, or for writing
// when nobody owns it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <holdfast/base/result.hpp>
#include <holdfast/ports/sql.hpp>
#include <holdfast/store/store.hpp>

#include "app/verbs.hpp"

namespace holdfast::app {

/// The store's path; a sentence on stderr and nothing when the options do not give one.
std::optional<std::string> store_path_of(const StoreChoice& from);

/// Runs `work` in one read transaction of a read-only connection; its exit code, or
/// `exit_environment` with a sentence when the store cannot be read.
int with_reader(const std::string& path, const std::function<int(store::Txn&)>& work);

/// Runs `work` in one write transaction, owning the store meanwhile. `exit_environment` with a
/// sentence when an engine owns it or it cannot be written.
int with_writer(const std::string& path, const std::function<int(store::Txn&)>& work);

}  // namespace holdfast::app
