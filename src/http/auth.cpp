#include "http/auth.hpp"

#include <algorithm>

#include <holdfast/base/log.hpp>
#include <holdfast/http/keys.hpp>

#include "http/routes.hpp"

namespace holdfast::http {
namespace {

constexpr std::size_t longest_token = 512;

std::string with_or(std::string_view scopes) {
  std::string out;
  for (const char c : scopes) out += c == ' ' ? std::string(" or ") : std::string(1, c);
  return out;
}

}  // namespace

bool Asker::has(std::string_view scope) const {
  return std::ranges::find(scopes, scope) != scopes.end();
}

std::optional<domain::CallerId> Asker::sees() const {
  if (is_operator()) return std::nullopt;
  return domain::CallerId{name};
}

Asker anyone() {
  const auto all = known_scopes();
  return {"(anyone)", {all.begin(), all.end()}};
}

Problem unauthorized(std::string detail) { return {401, "unauthorized", std::move(detail)}; }

std::variant<std::optional<std::string_view>, Problem> bearer_token(const Request& request) {
  if (request.count("Authorization") > 1) {
    return Problem{400, "repeated_header", "Authorization: the header came more than once"};
  }
  const auto given = request.header("Authorization");
  if (!given) return std::nullopt;
  static constexpr std::string_view scheme = "Bearer ";
  if (given->size() <= scheme.size() || given->size() > scheme.size() + longest_token ||
      !same_name(given->substr(0, scheme.size()), scheme)) {
    return unauthorized("Authorization: must be 'Bearer ' and a key's token");
  }
  return given->substr(scheme.size());
}

std::optional<Problem> check_scopes(const Asker& asker, std::string_view scopes) {
  if (scopes.empty()) return std::nullopt;
  for (const std::string& scope : asker.scopes) {
    if (lists(scopes, scope)) return std::nullopt;
  }
  return Problem{403, "forbidden", "this key lacks the scope " + with_or(scopes)};
}

boost::asio::awaitable<void> KeyRing::read(engine::Engine& engine) {
  const std::uint64_t number = ++reads_;
  auto keys = co_await engine.api_keys();
  if (number == reads_) set(std::move(keys));
}

boost::asio::awaitable<void> KeyRing::refresh(engine::Engine& engine) {
  if (reading_ || clock_.mono_ms() - read_at_ms_ < refresh_ms_) co_return;
  struct Reading {
    bool& flag;
    explicit Reading(bool& one) : flag(one) { flag = true; }
    ~Reading() { flag = false; }
  } const reading(reading_);
  try {
    co_await read(engine);
  } catch (const store::StoreUnavailable&) {
    log::warn("keys_not_read", {{"why", "the store cannot be used now"}});
  } catch (const store::StoreInDoubt&) {
    log::warn("keys_not_read", {{"why", "the store is in doubt"}});
  } catch (const store::StoreBusy&) {
    log::debug("keys_not_read", {{"why", "the store is busy"}});
  }
  read_at_ms_ = clock_.mono_ms();
}

std::optional<Asker> KeyRing::find(std::string_view token) const {
  const Digest wanted = hash_token(token);
  const engine::ApiKey* found = nullptr;
  for (const engine::ApiKey& key : keys_) {
    if (equal_constant_time(key.sha256, wanted)) found = &key;
  }
  if (found == nullptr || found->revoked_ms) return std::nullopt;
  return Asker{found->name, found->scopes};
}

void KeyRing::add(engine::ApiKey key) {
  ++reads_;
  keys_.push_back(std::move(key));
}

void KeyRing::drop(std::string_view name) {
  ++reads_;
  std::erase_if(keys_, [name](const engine::ApiKey& key) { return key.name == name; });
}

void KeyRing::set(std::vector<engine::ApiKey> keys) {
  keys_ = std::move(keys);
  read_at_ms_ = clock_.mono_ms();
}

}  // namespace holdfast::http
