// Owns: who asks: the bearer token of a request, the keys known, and what their scopes allow.
// Must never: log or answer a token, or take longer for a token that is nearly right.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <holdfast/engine/engine.hpp>
#include <holdfast/ports/clock.hpp>

#include "http/message.hpp"
#include "http/problem.hpp"

namespace holdfast::http {

/// Who a request comes from; the name is the caller's id.
struct Asker {
  std::string name;
  std::vector<std::string> scopes;

  bool has(std::string_view scope) const;
  bool is_operator() const { return has("ops"); }
  /// Whose payments they may see: empty for everybody's.
  std::optional<domain::CallerId> sees() const;
};

/// The caller where no key is required and none was given. No key can have this name.
Asker anyone();

/// The token of `Authorization: Bearer …`: empty when there is no such header. `bad_request` when
/// it comes twice, `unauthorized` when it is something else.
std::variant<std::optional<std::string_view>, Problem> bearer_token(const Request& request);

/// 401: no key, or none that is known.
Problem unauthorized(std::string detail);
/// 403 when the asker has none of `scopes` (parted by blanks; none: anybody may).
std::optional<Problem> check_scopes(const Asker& asker, std::string_view scopes);

/// The keys as the store had them at most `refresh_ms` ago. Read by the request that finds them
/// old, while the others go on with what is there.
class KeyRing {
 public:
  KeyRing(ports::Clock& clock, std::int64_t refresh_ms) : clock_(clock), refresh_ms_(refresh_ms) {}

  /// Throws what the store throws; the keys then stay as they were.
  boost::asio::awaitable<void> read(engine::Engine& engine);
  /// `read` when they are old. A store that cannot answer now leaves them as they are.
  boost::asio::awaitable<void> refresh(engine::Engine& engine);
  /// The key of this token, unless it is revoked. Looks at every key, whichever it is.
  std::optional<Asker> find(std::string_view token) const;
  void set(std::vector<engine::ApiKey> keys);
  /// What this process has just changed itself, so that it holds from the answer on.
  void add(engine::ApiKey key);
  void drop(std::string_view name);

 private:
  ports::Clock& clock_;
  std::int64_t refresh_ms_;
  std::vector<engine::ApiKey> keys_;
  std::int64_t read_at_ms_ = 0;  ///< monotonic
  std::uint64_t reads_ = 0;      ///< so that a slow read does not undo what came after it
  bool reading_ = false;
};

}  // namespace holdfast::http
