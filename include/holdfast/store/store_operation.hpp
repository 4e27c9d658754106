// Owns: the template half of Store: a step and its waiter as one queue node.
// Must never: let the runner touch a handler, or the waiters' executor a step that may be running.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/base/ensure.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/store/store.hpp>

namespace holdfast::store {

namespace detail {

class OperationList;

/// A place in the ring of everything not yet completed. The ring belongs to the waiters' executor.
class Outstanding {
 public:
  Outstanding() = default;
  ~Outstanding() { unlink(); }
  Outstanding(const Outstanding&) = delete;
  Outstanding& operator=(const Outstanding&) = delete;

  void link_before(Outstanding& other) {
    before_ = other.before_;
    after_ = &other;
    before_->after_ = this;
    other.before_ = this;
  }
  void unlink() {
    before_->after_ = after_;
    after_->before_ = before_;
    before_ = after_ = this;
  }
  /// The one behind; itself when it is alone.
  Outstanding& after() { return *after_; }

 private:
  Outstanding* before_ = this;
  Outstanding* after_ = this;
};

/// One queued step. The runner calls run() and fail(); everything else happens on the waiters'
/// executor, which also destroys it.
class Operation : public Outstanding {
 public:
  virtual ~Operation() = default;
  virtual bool writes() const = 0;
  /// Keeps the result; forgets an earlier run's. Throws what the step throws.
  virtual void run(Txn& txn) = 0;
  /// Instead of a result.
  virtual void fail(std::exception_ptr error) = 0;
  /// Resumes the waiter, if it still is there. May throw what the resumed code lets through.
  virtual void complete() = 0;
  /// Destroys the waiter's handler without resuming it.
  virtual void drop_waiter() = 0;

 private:
  friend class OperationList;
  Operation* next_ = nullptr;
};

struct Nothing {};

template <class Value>
struct SignatureOf {
  using type = void(std::exception_ptr, Value);
};
template <>
struct SignatureOf<void> {
  using type = void(std::exception_ptr);
};

template <class Value>
constexpr bool is_result = false;
template <class Value>
constexpr bool is_result<Result<Value>> = true;

template <class Step, class Handler, bool Writes>
class StepOperation final : public Operation {
  using Returned = std::invoke_result_t<const Step&, Txn&>;
  using Value = std::conditional_t<std::is_void_v<Returned>, Nothing, Returned>;
  static_assert(std::is_default_constructible_v<Value>, "what a step returns must have a default");

 public:
  StepOperation(Step step, Handler handler)
      : step_(std::move(step)), handler_(std::in_place, std::move(handler)) {}

  bool writes() const override { return Writes; }

  void run(Txn& txn) override {
    value_.reset();
    error_ = nullptr;
    const auto before = txn.db().total_changes();
    if constexpr (std::is_void_v<Returned>) {
      std::as_const(step_)(txn);
      value_.emplace();
    } else {
      value_.emplace(std::as_const(step_)(txn));
    }
    if constexpr (!Writes) {
      ensure(txn.db().total_changes() == before, "a read changed the store");
    } else if constexpr (is_result<Value>) {
      ensure(value_->has_value() || txn.db().total_changes() == before,
             "a step refused after it had written");
    }
  }

  void fail(std::exception_ptr error) override {
    value_.reset();
    error_ = std::move(error);
  }

  void complete() override {
    if (!handler_) return;
    Handler handler = std::move(*handler_);
    handler_.reset();
    if constexpr (std::is_void_v<Returned>) {
      handler(error_);
    } else if (error_) {
      handler(error_, Value{});
    } else {
      handler(std::exception_ptr{}, std::move(*value_));
    }
  }

  void drop_waiter() override { handler_.reset(); }

 private:
  Step step_;
  std::optional<Handler> handler_;
  std::optional<Value> value_;
  std::exception_ptr error_;
};

}  // namespace detail

template <bool Writes>
struct Store::Submit {
  Store* store;

  template <class Handler, class Step>
  void operator()(Handler handler, Step step) const {
    using Operation = detail::StepOperation<Step, Handler, Writes>;
    store->submit(std::make_unique<Operation>(std::move(step), std::move(handler)));
  }
};

template <class Step>
boost::asio::awaitable<std::invoke_result_t<const Step&, Txn&>> Store::write(Step step) {
  using Signature = typename detail::SignatureOf<std::invoke_result_t<const Step&, Txn&>>::type;
  return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, Signature>(
      Submit<true>{this}, boost::asio::use_awaitable, std::move(step));
}

template <class Step>
boost::asio::awaitable<std::invoke_result_t<const Step&, Txn&>> Store::read(Step step) {
  using Signature = typename detail::SignatureOf<std::invoke_result_t<const Step&, Txn&>>::type;
  return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, Signature>(
      Submit<false>{this}, boost::asio::use_awaitable, std::move(step));
}

}  // namespace holdfast::store
