#include "store/store_core.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/post.hpp>

#include <holdfast/base/ensure.hpp>
#include <holdfast/base/log.hpp>

namespace holdfast::store {

namespace {

std::exception_ptr closed_error(const std::string& name) {
  return std::make_exception_ptr(
      StoreUnavailable(sql::Cause::busy, name + " was closed before this was begun"));
}

std::exception_ptr busy_error(const std::string& name, std::size_t limit) {
  return std::make_exception_ptr(StoreBusy(name + " has " + std::to_string(limit) +
                                           " operations waiting, its limit: try again later"));
}

}  // namespace

/// Completes a batch's operations, in one post to the waiters' executor. Destroyed unrun (the
/// executor is going), it takes its operations with it.
class Store::Core::Delivery {
 public:
  Delivery(std::shared_ptr<Core> core, OperationList done)
      : core_(std::move(core)), done_(std::move(done)) {}

  void operator()() {
    while (auto operation = done_.pop()) {
      operation->unlink();
      try {
        operation->complete();
      } catch (...) {
        // What a resumed coroutine lets through is its executor's; the others are resumed still.
        if (!done_.empty()) core_->deliver(std::move(done_));
        throw;
      }
    }
  }

 private:
  std::shared_ptr<Core> core_;
  OperationList done_;
};

Store::Core::Core(std::unique_ptr<sql::Driver> driver, StoreOptions options)
    : options_(std::move(options)), driver_(std::move(driver)), name_(driver_->name()) {
  ensure(static_cast<bool>(options_.waiters), "a store needs an executor for its waiters");
  ensure(options_.max_batch > 0 && options_.max_queued > 0, "a store's limits are above zero");
  try {
    open();
  } catch (const sql::Failure& failure) {
    throw StoreUnavailable(failure.cause(), failure.what());
  }
  batch_ = std::make_unique<detail::Batch>(*db_, name_);
}

Store::Core::~Core() = default;

void Store::Core::open() {
  db_ = driver_->open_writer();
  auto beside = driver_->side_record();
  if (!beside) return;
  marker_ = std::make_shared<Marker>(std::move(beside), name_);
  marker_->open(*db_);
  restored_ = marker_->restored();
}

void Store::Core::start() {
  if (!options_.runner) thread_ = std::thread([this] { run_thread(); });
}

void Store::Core::submit(std::unique_ptr<detail::Operation> operation) {
  operation->link_before(outstanding_);
  std::unique_lock lock(mutex_);
  std::exception_ptr refusal;
  if (closed_) {
    refusal = closed_error(name_);
  } else if (doubt_ != nullptr) {
    refusal = doubt_;
  } else if (queue_.size() >= options_.max_queued) {
    refusal = busy_error(name_, options_.max_queued);
  }
  if (refusal != nullptr) {
    lock.unlock();
    return deliver_failed(std::move(operation), std::move(refusal));
  }
  queue_.push(std::move(operation));
  const bool wake = !std::exchange(scheduled_, true) || queue_.size() == awaited_;
  lock.unlock();
  if (!wake) return;
  if (options_.runner) {
    post_turn();
  } else {
    changed_.notify_one();
  }
}

Store::Core::OperationList Store::Core::take_batch() {
  const std::size_t most = options_.commit_per_step ? 1 : options_.max_batch;
  running_ = true;
  if (queue_.size() <= most) return std::exchange(queue_, {});
  OperationList batch;
  while (batch.size() < most) batch.push(queue_.pop());
  return batch;
}

// On the runner, without the mutex.
void Store::Core::run_batch(OperationList batch) {
  const detail::BatchCounts counts = batch_->run(batch);
  {
    const std::lock_guard lock(mutex_);
    stats_.commits += counts.commits;
    stats_.steps += counts.steps;
    stats_.reads += counts.reads;
    stats_.rollbacks += counts.rollbacks;
    doubt_ = batch_->doubt();
    trouble_ = batch_->trouble();
  }
  deliver(std::move(batch));
}

void Store::Core::run_thread() {
  std::unique_lock lock(mutex_);
  for (;;) {
    while (queue_.empty() && !closed_) {
      scheduled_ = false;
      changed_.wait(lock);
    }
    linger(lock);
    if (closed_) return;
    OperationList batch = take_batch();
    last_size_ = batch.size();
    lock.unlock();
    run_batch(std::move(batch));
    lock.lock();
    running_ = false;
  }
}

// Whom the last commit woke will mostly be back in a moment. Under load their next steps share one
// commit rather than make two; where few are at work nobody waits.
void Store::Core::linger(std::unique_lock<std::mutex>& lock) {
  constexpr std::size_t few = 16;
  constexpr std::size_t enough = 512;
  if (last_size_ < few || options_.commit_per_step || options_.linger_us <= 0) return;
  awaited_ = std::min(2 * last_size_, enough);
  if (queue_.size() < awaited_) {
    changed_.wait_for(lock, std::chrono::microseconds(options_.linger_us),
                      [this] { return closed_ || queue_.size() >= awaited_; });
  }
  awaited_ = 0;
}

// One batch, then the lent executor's other work gets its turn.
void Store::Core::run_turn() {
  std::unique_lock lock(mutex_);
  if (closed_ || queue_.empty()) {
    scheduled_ = false;
    return;
  }
  OperationList batch = take_batch();
  lock.unlock();
  run_batch(std::move(batch));
  lock.lock();
  running_ = false;
  scheduled_ = !closed_ && !queue_.empty();
  if (scheduled_) post_turn();
  changed_.notify_all();
}

void Store::Core::post_turn() {
  boost::asio::post(options_.runner, [self = shared_from_this()] { self->run_turn(); });
}

void Store::Core::deliver(OperationList done) {
  boost::asio::post(options_.waiters, Delivery(shared_from_this(), std::move(done)));
}

void Store::Core::deliver_failed(std::unique_ptr<detail::Operation> operation,
                                 std::exception_ptr error) {
  operation->fail(std::move(error));
  OperationList done;
  done.push(std::move(operation));
  deliver(std::move(done));
}

void Store::Core::abandon() {
  OperationList never_run;
  {
    const std::lock_guard lock(mutex_);
    never_run = std::exchange(queue_, {});
    // A turn that was posted to a lent executor may be destroyed with it.
    if (options_.runner) scheduled_ = false;
  }
  while (&outstanding_.after() != &outstanding_) {
    auto& operation = static_cast<detail::Operation&>(outstanding_.after());
    operation.unlink();
    operation.drop_waiter();
  }
}

void Store::Core::close() {
  OperationList waiting;
  {
    std::unique_lock lock(mutex_);
    closed_ = true;
    waiting = std::exchange(queue_, {});
    changed_.notify_all();
    changed_.wait(lock, [this] { return !running_ || thread_.joinable(); });
  }
  if (thread_.joinable()) thread_.join();
  if (!waiting.empty()) {
    const auto error = closed_error(name_);
    waiting.each([&](detail::Operation& operation) { operation.fail(error); });
    deliver(std::move(waiting));
  }
  if (batch_ && !batch_->in_doubt()) keep_mark_at_end();
  batch_.reset();
  db_.reset();
  driver_.reset();
}

// A mark that is older than the store is no harm: the next opening brings it up.
void Store::Core::keep_mark_at_end() {
  if (!marker_) return;
  try {
    Txn txn(*db_);
    marker_->keep(txn);
  } catch (const sql::Failure& failure) {
    log::warn("mark_not_kept", {{"why", failure.what()}});
  }
}

StoreStats Store::Core::stats() const {
  const std::lock_guard lock(mutex_);
  StoreStats out = stats_;
  out.queued = queue_.size();
  return out;
}

bool Store::Core::usable() const {
  const std::lock_guard lock(mutex_);
  return doubt_ == nullptr;
}

std::optional<StoreTrouble> Store::Core::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

}  // namespace holdfast::store
