#include <holdfast/store/store.hpp>

#include <utility>

#include "store/store_core.hpp"

namespace holdfast::store {

Store::Store(std::unique_ptr<sql::Driver> driver, StoreOptions options)
    : core_(std::make_shared<Core>(std::move(driver), std::move(options))) {
  core_->start();
}

Store::~Store() { core_->close(); }

void Store::submit(std::unique_ptr<detail::Operation> operation) {
  core_->submit(std::move(operation));
}

StoreStats Store::stats() const { return core_->stats(); }
bool Store::usable() const { return core_->usable(); }
std::string Store::name() const { return core_->name(); }
std::optional<StoreTrouble> Store::trouble() const { return core_->trouble(); }
void Store::close() { core_->close(); }
const std::optional<std::string>& Store::restored() const { return core_->restored(); }

boost::asio::awaitable<void> Store::keep_mark() {
  const auto marker = core_->marker();
  if (!marker) co_return;
  co_await read([marker](Txn& txn) { marker->keep(txn); });
}

void Store::abandon() { core_->abandon(); }

}  // namespace holdfast::store
