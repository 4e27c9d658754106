#include "evm/http_rpc_endpoint.hpp"

#include <algorithm>
#include <charconv>

#include <boost/url/params_view.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/segments_view.hpp>
#include <boost/url/url_view.hpp>

#include <holdfast/base/base64.hpp>

#include "evm/http_rpc.hpp"

namespace holdfast::evm {
namespace {

namespace urls = boost::urls;

constexpr std::size_t longest_url = 2048;
constexpr std::size_t shortest_secret = 4;
constexpr std::string_view redacted = "[redacted]";

std::string text_of(urls::string_view view) { return std::string(view.data(), view.size()); }

/// The raw form and the decoded one: a proxy may echo either.
void add_both(Secrets& secrets, urls::pct_string_view encoded) {
  secrets.add({encoded.data(), encoded.size()});
  secrets.add(encoded.decode());
}

void collect_secrets(const urls::url_view& url, Endpoint& out) {
  Secrets& secrets = out.secrets;
  if (url.has_userinfo()) {
    add_both(secrets, url.encoded_userinfo());
    add_both(secrets, url.encoded_user());
    add_both(secrets, url.encoded_password());
    const std::string token = to_base64(as_bytes(url.userinfo()));  // RFC 7617
    secrets.add(token);
    out.authorization = "Basic " + token;
  }
  add_both(secrets, url.encoded_path());
  for (const auto& segment : url.encoded_segments()) add_both(secrets, segment);
  add_both(secrets, url.encoded_query());
  for (const auto& param : url.encoded_params()) {
    // "?token=…": the name is no secret and a common word; "?…" alone may be one.
    add_both(secrets, param.has_value ? param.value : param.key);
  }
  secrets.add(out.target);
}

bool is_host(const urls::url_view& url) {
  const auto type = url.host_type();
  if (type == urls::host_type::ipv4 || type == urls::host_type::ipv6) return true;
  const urls::string_view name = url.encoded_host();
  return type == urls::host_type::name && !name.empty() && name.size() <= 253 &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '-' || c == '_';
         });
}

Error bad_url(const char* sentence) { return refuse(RpcError::bad_url, sentence); }

}  // namespace

void Secrets::add(std::string_view text) {
  if (text.size() < shortest_secret || std::ranges::find(texts_, text) != texts_.end()) return;
  texts_.emplace_back(text);
  std::ranges::sort(texts_, std::ranges::greater{}, &std::string::size);
}

std::string Secrets::scrub(std::string_view text) const {
  std::string out(text);
  for (const std::string& secret : texts_) {
    for (auto at = out.find(secret); at != out.npos; at = out.find(secret, at)) {
      out.replace(at, secret.size(), redacted);
      at += redacted.size();
    }
  }
  return out;
}

Result<Endpoint> parse_endpoint(std::string_view url) {
  if (url.size() > longest_url) return bad_url("the RPC URL is longer than 2048 bytes");
  const auto parsed = urls::parse_absolute_uri({url.data(), url.size()});
  if (!parsed) return bad_url("the RPC URL is not an absolute URL without a fragment");
  const urls::url_view& view = *parsed;

  Endpoint out;
  if (view.scheme_id() == urls::scheme::https) {
    out.tls = true;
  } else if (view.scheme_id() != urls::scheme::http) {
    return bad_url("the RPC URL must begin with http:// or https://");
  }
  // Boost.URL 1.81 takes "http://user:pa@ss@host" for the host "ss" and the path "@host": what
  // follows the authority must begin a path, or a secret would go to a stranger.
  const urls::string_view path = view.encoded_path();
  if (!path.empty() && path.front() != '/') {
    return bad_url("the RPC URL's host or port is not one; in a password, write @ as %40");
  }
  out.host = view.host_address();
  if (!is_host(view)) return bad_url("the RPC URL's host is not a name or an address");
  const std::uint16_t usual = out.tls ? 443 : 80;
  out.port = usual;
  if (view.has_port() && !view.port().empty()) {
    // Not port_number(): it gives a number for 99999 too.
    const std::string port = text_of(view.port());
    const auto read = std::from_chars(port.data(), port.data() + port.size(), out.port);
    if (read.ec != std::errc() || out.port == 0)
      return bad_url("the RPC URL's port is not between 1 and 65535");
  }
  const std::string host = text_of(view.encoded_host());
  out.host_field = out.port == usual ? host : host + ":" + std::to_string(out.port);
  out.shown = std::string(out.tls ? "https://" : "http://") + host + ":" + std::to_string(out.port);
  out.target = text_of(view.encoded_target());
  if (!out.target.starts_with('/')) out.target.insert(0, "/");
  collect_secrets(view, out);
  return out;
}

}  // namespace holdfast::evm
