// Owns: the error category of an enum of refusals, made from its table of texts.
#pragma once

#include <string>

#include <boost/system/error_category.hpp>

#include "domain/enum_text.hpp"

namespace holdfast::domain {

template <class Enum, std::size_t N>
class TextCategory final : public boost::system::error_category {
 public:
  /// `texts` must live as long as the program.
  TextCategory(const char* name, const EnumText<Enum> (&texts)[N]) : name_(name), texts_(texts) {}

  const char* name() const noexcept override { return name_; }

  // A foreign number may get here through error_code's constructor: it must not stop the process.
  std::string message(int code) const override {
    for (const EnumText<Enum>& row : texts_) {
      if (static_cast<int>(row.value) == code) return std::string(row.text);
    }
    return "unknown error " + std::to_string(code);
  }

 private:
  const char* name_;
  const EnumText<Enum> (&texts_)[N];
};

}  // namespace holdfast::domain
