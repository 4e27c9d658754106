#include "app/open_store.hpp"

#include <cstdio>
#include <filesystem>

#include <holdfast/sqlite/sqlite.hpp>

#include "app/config.hpp"
#include "store/mark.hpp"

namespace holdfast::app {
namespace {

int environment(const std::string& sentence) {
  std::fprintf(stderr, "holdfast: %s\n", sentence.c_str());
  return exit_environment;
}

}  // namespace

std::optional<std::string> store_path_of(const StoreChoice& from) {
  if (!from.store.empty()) return from.store;
  const auto checked = read_config_file(from.config);
  if (!checked) {
    std::fprintf(stderr, "%s: %s\n", from.config.c_str(), checked.error().detail.c_str());
    return std::nullopt;
  }
  if (!checked->problems.empty()) {
    std::fputs(problems_as_text(from.config, checked->problems).c_str(), stderr);
    return std::nullopt;
  }
  return checked->config.store_path;
}

int with_reader(const std::string& path, const std::function<int(store::Txn&)>& work) {
  if (!std::filesystem::exists(path)) return environment("there is no store at " + path);
  try {
    sqlite::SqliteOptions options;
    options.path = path;
    options.read_only = true;
    const auto driver = sqlite::open_sqlite(options);
    const auto connection = driver->open_reader();
    store::Txn txn(*connection);
    return work(txn);
  } catch (const sql::Failure& failure) {
    return environment(failure.what());
  }
}

int with_writer(const std::string& path, const std::function<int(store::Txn&)>& work) {
  try {
    sqlite::SqliteOptions options;
    options.path = path;
    const auto driver = sqlite::open_sqlite(options);
    const auto connection = driver->open_writer();
    if (auto beside = driver->side_record()) {
      store::Marker(std::move(beside), driver->name()).open(*connection);
    }
    connection->begin_write();
    store::Txn txn(*connection);
    const int code = work(txn);
    if (code == exit_done) {
      connection->commit();
    } else {
      connection->rollback();
    }
    return code;
  } catch (const sql::Failure& failure) {
    const bool in_use = failure.cause() == sql::Cause::busy;
    // Every verb that writes can also go through the server that has the store.
    return environment(std::string(failure.what()) + (in_use ? "; use --server URL" : ""));
  }
}

}  // namespace holdfast::app
