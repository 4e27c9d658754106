#include <holdfast/ports/parking.hpp>

#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <holdfast/base/ensure.hpp>

namespace holdfast::ports {

namespace asio = boost::asio;

// What a cancellation calls. It takes the frame out of the list; `resume` then clears the slot, and
// with it this object, which is why nothing here is touched after the call.
struct Waiter::Cancel {
  Waiter* waiter;
  void operator()(asio::cancellation_type_t type) {
    if (type == asio::cancellation_type::none) return;
    Waiter* const self = waiter;
    self->resume(asio::error::operation_aborted);
  }
};

asio::awaitable<void> Waiter::start(WaitList& list, bool cancellable) {
  return asio::async_initiate<const asio::use_awaitable_t<>, void(boost::system::error_code)>(
      [](Handler handler, Waiter* self, WaitList* into, bool may_cancel) {
        self->enter(*into, may_cancel, std::move(handler));
      },
      asio::use_awaitable, this, &list, cancellable);
}

asio::awaitable<void> Waiter::park(WaitList& list) { return start(list, true); }

asio::awaitable<void> Waiter::park_uncancellable(WaitList& list) { return start(list, false); }

void Waiter::enter(WaitList& list, bool cancellable, Handler handler) {
  ensure(list_ == nullptr, "a waiter waits in one list at a time");
  list_ = &list;
  before_ = list.last_;
  after_ = nullptr;
  (before_ != nullptr ? before_->after_ : list.first_) = this;
  list.last_ = this;
  ++list.size_;
  slot_ = cancellable ? handler.get_cancellation_slot() : asio::cancellation_slot();
  handler_.emplace(std::move(handler));
  if (slot_.is_connected()) slot_.emplace<Cancel>(Cancel{this});
}

void Waiter::leave() {
  if (list_ == nullptr) return;
  (before_ != nullptr ? before_->after_ : list_->first_) = after_;
  (after_ != nullptr ? after_->before_ : list_->last_) = before_;
  --list_->size_;
  list_ = nullptr;
}

void Waiter::resume(boost::system::error_code error) {
  if (list_ == nullptr) return;
  leave();
  // The frame, and this waiter in it, may end as soon as the post is made.
  Handler handler = std::move(*handler_);
  handler_.reset();
  slot_.clear();
  const auto executor = handler.get_executor();
  asio::post(executor, [waiting = std::move(handler), error]() mutable { waiting(error); });
}

void Waiter::wake() { resume({}); }

void Waiter::drop() {
  if (list_ == nullptr) return;
  leave();
  slot_.clear();
  // Asio unwinds the frame of a destroyed handler by a post on the frame's executor.
  const Handler dropped = std::move(*handler_);
  handler_.reset();
}

bool WaitList::wake_one() {
  if (first_ == nullptr) return false;
  first_->wake();
  return true;
}

void WaitList::wake_all() {
  while (wake_one()) {
  }
}

void WaitList::abandon() {
  while (first_ != nullptr) first_->drop();
}

}  // namespace holdfast::ports
