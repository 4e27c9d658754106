// Owns: a first-in-first-out list of operations, linked through themselves.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <holdfast/store/store.hpp>

namespace holdfast::store::detail {

class OperationList {
 public:
  OperationList() = default;
  ~OperationList() { clear(); }
  OperationList(OperationList&& other) noexcept { swap(other); }
  OperationList& operator=(OperationList&& other) noexcept {
    OperationList taken(std::move(other));
    swap(taken);
    return *this;
  }

  bool empty() const { return first_ == nullptr; }
  std::size_t size() const { return size_; }

  void push(std::unique_ptr<Operation> operation) {
    Operation* added = operation.release();
    added->next_ = nullptr;
    (last_ != nullptr ? last_->next_ : first_) = added;
    last_ = added;
    ++size_;
  }

  /// The oldest; empty when there is none.
  std::unique_ptr<Operation> pop() {
    std::unique_ptr<Operation> out(first_);
    if (out == nullptr) return out;
    first_ = out->next_;
    if (first_ == nullptr) last_ = nullptr;
    --size_;
    return out;
  }

  /// Calls `visit` with each, oldest first.
  template <class Visit>
  void each(Visit visit) {
    for (Operation* at = first_; at != nullptr; at = at->next_) visit(*at);
  }

 private:
  void clear() {
    while (pop() != nullptr) {
    }
  }
  void swap(OperationList& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    std::swap(size_, other.size_);
  }

  Operation* first_ = nullptr;
  Operation* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace holdfast::store::detail
