// Owns: an optional value that stands elsewhere: for what is big, seldom there, and part of what
// there are very many of.
#pragma once

#include <memory>
#include <utility>

namespace holdfast {

/// Used like std::optional. Empty it is one pointer; a copy is a copy of the value.
template <class T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(T value) : at_(std::make_unique<T>(std::move(value))) {}
  Boxed(const Boxed& other) : at_(other.at_ ? std::make_unique<T>(*other.at_) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) {
    if (this != &other) at_ = other.at_ ? std::make_unique<T>(*other.at_) : nullptr;
    return *this;
  }
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  explicit operator bool() const { return at_ != nullptr; }
  bool has_value() const { return at_ != nullptr; }
  T& operator*() { return *at_; }
  const T& operator*() const { return *at_; }
  T* operator->() { return at_.get(); }
  const T* operator->() const { return at_.get(); }
  void reset() { at_.reset(); }

 private:
  std::unique_ptr<T> at_;
};

}  // namespace holdfast
