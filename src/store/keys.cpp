// The keys of the HTTP face: names, digests and scopes, never a token.
#include <algorithm>
#include <array>

#include "store/events.hpp"
#include "store/reads.hpp"
#include "store/statements.hpp"
#include "store/writes.hpp"

namespace holdfast::store {
namespace {

constexpr std::array<std::string_view, 4> known_scopes = {"pay", "payout", "ops", "x402"};
constexpr std::size_t longest_name = 64;

std::string joined(const std::vector<std::string>& scopes) {
  std::string out;
  for (const std::string& scope : scopes) out.append(out.empty() ? "" : " ").append(scope);
  return out;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

Result<void> check_key(const ApiKey& key) {
  if (key.name.empty() || key.name.size() > longest_name) {
    return refuse(StoreError::bad_key, "a key's name has 1 to 64 characters");
  }
  if (key.scopes.empty()) return refuse(StoreError::bad_key, "a key needs at least one scope");
  for (const std::string& scope : key.scopes) {
    if (std::find(known_scopes.begin(), known_scopes.end(), scope) == known_scopes.end()) {
      return refuse(StoreError::bad_key,
                    "'" + scope + "' is no scope: they are pay, payout, ops and x402");
    }
  }
  return {};
}

constexpr const char* key_select =
    "SELECT name, sha256, scopes, created_ms, revoked_ms, salt, request_key, fingerprint"
    " FROM api_keys";

ApiKey key_from(const Row& row) {
  ApiKey key;
  key.name = row.text(0);
  key.sha256 = row.digest(1);
  key.scopes = split(row.text(2));
  key.created_ms = row.number(3);
  key.revoked_ms = row.maybe_number(4);
  key.salt = row.maybe_fixed<KeySalt>(5);
  if (!row.null(6)) key.request = Request{row.fixed<RequestKey>(6), row.digest(7)};
  return key;
}

/// The key that this request made before.
std::optional<ApiKey> made_before(Txn& txn, const Request& request) {
  static const std::string sql = std::string(key_select) + " WHERE request_key = $1";
  return first(txn, sql, key_from, request.key);
}

void key_event(Txn& txn, std::int64_t now_ms, std::string_view who, std::string reason) {
  Event event;
  event.at_ms = now_ms;
  event.kind = "key";
  event.actor = domain::Actor::operator_;
  event.who = who;
  event.reason = std::move(reason);
  add_event(txn, std::nullopt, event);
}

}  // namespace

Result<AddedKey> add_api_key(Txn& txn, const ApiKey& key, std::string_view who) {
  if (const auto good = check_key(key); good.has_error()) return good.error();
  if (key.request) {
    if (auto before = made_before(txn, *key.request)) {
      if (before->request->fingerprint == key.request->fingerprint) {
        return AddedKey{std::move(*before), true};
      }
      return refuse(StoreError::key_reused, "the idempotency key came with another request before");
    }
  }
  const auto there =
      number_of(txn, "SELECT EXISTS (SELECT 1 FROM api_keys WHERE name = $1 OR sha256 = $2)",
                key.name, key.sha256);
  if (there != 0) {
    return refuse(StoreError::name_taken,
                  "a key named '" + key.name +
                      "' is there, or was: it is also a caller's id, so it is never given twice");
  }
  const auto request_key = key.request ? std::optional(key.request->key) : std::nullopt;
  const auto print = key.request ? std::optional(key.request->fingerprint) : std::nullopt;
  execute(txn,
          "INSERT INTO api_keys (name, sha256, scopes, created_ms, salt, request_key, fingerprint)"
          " VALUES ($1, $2, $3, $4, $5, $6, $7)",
          key.name, key.sha256, joined(key.scopes), key.created_ms, key.salt, request_key, print);
  key_event(txn, key.created_ms, who, "key '" + key.name + "' added: " + joined(key.scopes));
  return AddedKey{key, false};
}

Result<void> revoke_api_key(Txn& txn, std::string_view name, std::int64_t now_ms,
                            std::string_view who) {
  const auto changed =
      execute(txn, "UPDATE api_keys SET revoked_ms = $1 WHERE name = $2 AND revoked_ms IS NULL",
              now_ms, name);
  if (changed != 1) {
    return refuse(StoreError::not_found, "there is no live key named '" + std::string(name) + "'");
  }
  key_event(txn, now_ms, who, "key '" + std::string(name) + "' revoked");
  return {};
}

std::vector<ApiKey> api_keys(Txn& txn) {
  static const std::string sql = std::string(key_select) + " ORDER BY row";
  std::vector<ApiKey> out;
  each(txn, sql, [&](const Row& row) { out.push_back(key_from(row)); });
  return out;
}

}  // namespace holdfast::store
