// Owns: `holdfast keys add|list|revoke`.
#include <cstdio>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <holdfast/http/keys.hpp>

#include "app/door.hpp"
#include "app/open_store.hpp"
#include "app/system_clock.hpp"
#include "app/system_entropy.hpp"
#include "app/tables.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::app {
namespace {

namespace json = boost::json;

bool check(const std::string& name, const std::vector<std::string>& scopes, std::string& why) {
  if (!http::is_key_name(name)) {
    why = "NAME: 1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit";
    return false;
  }
  for (const std::string& scope : scopes) {
    if (http::is_scope(scope)) continue;
    why = "--scope: must be one of pay, payout, ops, x402";
    return false;
  }
  return true;
}

void show_token(const std::string& name, const std::string& token, bool as_json) {
  if (as_json) {
    std::printf("%s\n", json::serialize(json::value{{"name", name}, {"token", token}}).c_str());
  } else {
    std::printf("%s\n", token.c_str());
    std::fprintf(stderr, "Key \"%s\" is added. Its token is shown this once.\n", name.c_str());
  }
}

json::object key_row(std::string_view name, json::array scopes, bool revoked) {
  return {{"name", name}, {"scopes", std::move(scopes)}, {"state", revoked ? "revoked" : "live"}};
}

int show_list(const json::array& keys, bool as_json) {
  if (as_json) {
    print_json(keys, true);
    return exit_done;
  }
  std::vector<std::vector<std::string>> rows = {{"NAME", "SCOPES", "STATE"}};
  for (const json::value& key : keys) {
    std::string scopes;
    for (const json::value& scope : key.at("scopes").as_array()) {
      scopes += (scopes.empty() ? "" : ",") + std::string(scope.as_string());
    }
    rows.push_back({cell(key, "name"), std::move(scopes), cell(key, "state")});
  }
  print_table(rows);
  return exit_done;
}

int tell_revoked(int code, const std::string& name) {
  if (code == exit_done) std::fprintf(stderr, "Key \"%s\" is revoked.\n", name.c_str());
  return code;
}

}  // namespace

int keys_add(const Door& from, const std::string& name, const std::vector<std::string>& scopes,
             bool as_json) {
  std::string why;
  if (!check(name, scopes, why)) {
    std::fprintf(stderr, "holdfast: %s\n", why.c_str());
    return exit_usage;
  }
  if (!from.server.empty()) {
    json::array listed(scopes.begin(), scopes.end());
    const std::string body = json::serialize(json::value{{"name", name}, {"scopes", listed}});
    const Asked asked = ask(from.server, {"POST", "/v1/keys", body, ""});
    if (asked.code != exit_done) return asked.code;
    const auto* answer = asked.body.if_object();
    const auto* token = answer == nullptr ? nullptr : answer->if_contains("token");
    if (token == nullptr || !token->is_string()) return refused("the server gave no token");
    show_token(name, std::string(token->as_string()), as_json);
    return exit_done;
  }
  const auto path = store_path_of(from.from);
  if (!path) return exit_usage;
  SystemEntropy entropy;
  const std::string token = http::make_token(entropy);
  const store::ApiKey key{name, http::hash_token(token), scopes, SystemClock().wall_ms(), {}, {},
                          {}};
  const int code = with_writer(*path, [&](store::Txn& txn) {
    const auto added = store::add_api_key(txn, key, os_user());
    return added ? exit_done : refused(added.error().detail);
  });
  if (code == exit_done) show_token(name, token, as_json);
  return code;
}

int keys_list(const Door& from, bool as_json) {
  if (!from.server.empty()) {
    const Asked asked = ask(from.server, {"GET", "/v1/keys", "", ""});
    if (asked.code != exit_done) return asked.code;
    json::array keys;
    for (const json::value& key : asked.body.at("keys").as_array()) {
      keys.push_back(key_row(key.at("name").as_string(), key.at("scopes").as_array(),
                             !key.at("revoked_at").is_null()));
    }
    return show_list(keys, as_json);
  }
  const auto path = store_path_of(from.from);
  if (!path) return exit_usage;
  return with_reader(*path, [&](store::Txn& txn) {
    json::array keys;
    for (const store::ApiKey& key : store::api_keys(txn)) {
      keys.push_back(key_row(key.name, json::array(key.scopes.begin(), key.scopes.end()),
                             key.revoked_ms.has_value()));
    }
    return show_list(keys, as_json);
  });
}

int keys_revoke(const Door& from, const std::string& name) {
  if (!http::is_key_name(name)) {
    std::fputs("holdfast: NAME: no key can be named so\n", stderr);
    return exit_usage;
  }
  if (!from.server.empty()) {
    return tell_revoked(ask(from.server, {"DELETE", "/v1/keys/" + name, "", ""}).code, name);
  }
  const auto path = store_path_of(from.from);
  if (!path) return exit_usage;
  const int code = with_writer(*path, [&](store::Txn& txn) {
    const auto revoked = store::revoke_api_key(txn, name, SystemClock().wall_ms(), os_user());
    return revoked ? exit_done : refused(revoked.error().detail);
  });
  return tell_revoked(code, name);
}

}  // namespace holdfast::app
