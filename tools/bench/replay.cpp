#include "replay.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "dice.hpp"

namespace holdfast::bench {

namespace {

[[noreturn]] void uneven(const std::string& sql) {
  throw std::runtime_error("payments do not run alike, so there is no floor to measure: " + sql);
}

std::string key_of(const Bound& bound) {
  if (const auto* text = std::get_if<std::string>(&bound.value)) return "t" + *text;
  return "b" + to_hex(std::get<Bytes>(bound.value));
}

// `fresh` knows every value of the last payment that is its own.
Value value_of(const std::array<const Bound*, 3>& seen, const std::string& sql,
               std::map<std::string, std::uint64_t>& fresh) {
  const Bound& last = *seen[2];
  Value out;
  out.at = last.at;
  const auto same_kind = [&](const Bound* one) { return one->value.index() == last.value.index(); };
  if (!std::ranges::all_of(seen, same_kind)) uneven(sql);
  if (const auto* number = std::get_if<std::int64_t>(&last.value)) {
    const auto before = std::get<std::int64_t>(seen[1]->value);
    out.kind = Value::Kind::number;
    out.number = *number;
    out.step = *number - before;
    if (before - std::get<std::int64_t>(seen[0]->value) != out.step) uneven(sql);
    return out;
  }
  if (std::holds_alternative<std::monostate>(last.value)) return out;
  if (seen[1]->value != last.value) {
    out.fresh = fresh.try_emplace(key_of(last), fresh.size() + 1).first->second;
  }
  if (const auto* text = std::get_if<std::string>(&last.value)) {
    out.kind = Value::Kind::text;
    out.text = *text;
  } else {
    out.kind = Value::Kind::blob;
    out.blob = std::get<Bytes>(last.value);
  }
  return out;
}

std::uint64_t own_word(std::uint64_t number, std::uint64_t which) {
  return load::Dice((number << 10U) + which).number();
}

void bind_text(sql::Statement& statement, Value& value, std::uint64_t number) {
  if (value.fresh != 0) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::uint64_t word = own_word(number, value.fresh);
    const std::size_t most = std::min<std::size_t>(value.text.size(), 16);
    for (std::size_t i = 0; i < most; ++i, word >>= 4U) {
      value.text[value.text.size() - 1 - i] = digits[word & 0xfU];
    }
  }
  statement.bind_text(value.at, value.text);
}

void bind_blob(sql::Statement& statement, Value& value, std::uint64_t number) {
  if (value.fresh != 0) {
    std::uint64_t word = own_word(number, value.fresh);
    const std::size_t most = std::min<std::size_t>(value.blob.size(), 8);
    for (std::size_t i = 0; i < most; ++i, word >>= 8U) {
      value.blob[i] = static_cast<Byte>(word & 0xffU);
    }
  }
  statement.bind_blob(value.at, value.blob);
}

}  // namespace

Pattern::Pattern(const Tape& tape, std::size_t writes) {
  if (tape.writes.size() < 3 * writes) throw std::runtime_error("the tape holds too few writes");
  std::map<std::string, std::uint64_t> fresh;
  const std::size_t start = tape.writes.size() - 3 * writes;
  for (std::size_t write = 0; write < writes; ++write) {
    const auto of = [&](std::size_t payment) -> const TapedWrite& {
      return tape.writes[start + payment * writes + write];
    };
    std::vector<Step> steps;
    for (std::size_t i = 0; i < of(2).size(); ++i) {
      const Ran& last = of(2)[i];
      for (const std::size_t earlier : {0U, 1U}) {
        const bool alike = i < of(earlier).size() && of(earlier).size() == of(2).size() &&
                           of(earlier)[i].sql == last.sql &&
                           of(earlier)[i].bound.size() == last.bound.size();
        if (!alike) uneven(last.sql);
      }
      Step step{last.sql, {}, last.steps, nullptr};
      for (std::size_t bound = 0; bound < last.bound.size(); ++bound) {
        step.values.push_back(value_of(
            {&of(0)[i].bound[bound], &of(1)[i].bound[bound], &last.bound[bound]}, last.sql, fresh));
      }
      steps.push_back(std::move(step));
    }
    steps_.push_back(std::move(steps));
  }
}

std::size_t Pattern::statements() const {
  std::size_t out = 0;
  for (const auto& write : steps_) out += write.size();
  return out;
}

void Pattern::prepare(sql::Connection& db) {
  for (auto& write : steps_) {
    for (Step& step : write) step.statement = &db.prepare(step.sql);
  }
}

void Pattern::run(std::size_t write, std::uint64_t number) {
  for (Step& step : steps_[write]) {
    sql::Statement& statement = *step.statement;
    for (Value& value : step.values) {
      switch (value.kind) {
        case Value::Kind::null: statement.bind_null(value.at); break;
        case Value::Kind::number:
          statement.bind_int(value.at,
                             value.number + value.step * static_cast<std::int64_t>(number));
          break;
        case Value::Kind::text: bind_text(statement, value, number); break;
        case Value::Kind::blob: bind_blob(statement, value, number); break;
      }
    }
    for (int i = 0; i < step.steps && statement.step(); ++i) {
    }
    statement.reset();
  }
}

}  // namespace holdfast::bench
