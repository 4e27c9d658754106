// Owns: `holdfast keys add|list|revoke`.
#include <cstdio>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <holdfast/http/keys.hpp>

#include "app/door.hpp"
#include "app/open_store.hpp"
#include "app/system_clock.hpp"
#include "app/system_entropy.hpp"
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

std::string joined(const std::vector<std::string>& scopes) {
  std::string out;
  for (const std::string& scope : scopes) out += (out.empty() ? "" : ",") + scope;
  return out;
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
    if (asked.code == exit_done) std::printf("%s\n", json::serialize(asked.body).c_str());
    return asked.code;
  }
  const auto path = store_path_of(from.from);
  if (!path) return exit_usage;
  return with_reader(*path, [&](store::Txn& txn) {
    json::array listed;
    if (!as_json) std::printf("%-32s %-24s %s\n", "NAME", "SCOPES", "STATE");
    for (const store::ApiKey& key : store::api_keys(txn)) {
      const char* const state = key.revoked_ms ? "revoked" : "live";
      if (as_json) {
        listed.push_back({{"name", key.name},
                          {"scopes", json::array(key.scopes.begin(), key.scopes.end())},
                          {"state", state}});
      } else {
        std::printf("%-32s %-24s %s\n", key.name.c_str(), joined(key.scopes).c_str(), state);
      }
    }
    if (as_json) std::printf("%s\n", json::serialize(listed).c_str());
    return exit_done;
  });
}

int keys_revoke(const Door& from, const std::string& name) {
  if (!http::is_key_name(name)) {
    std::fputs("holdfast: NAME: no key can be named so\n", stderr);
    return exit_usage;
  }
  if (!from.server.empty()) return ask(from.server, {"DELETE", "/v1/keys/" + name, "", ""}).code;
  const auto path = store_path_of(from.from);
  if (!path) return exit_usage;
  return with_writer(*path, [&](store::Txn& txn) {
    const auto revoked = store::revoke_api_key(txn, name, SystemClock().wall_ms(), os_user());
    return revoked ? exit_done : refused(revoked.error().detail);
  });
}

}  // namespace holdfast::app
