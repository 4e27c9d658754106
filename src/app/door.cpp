#include "app/door.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <holdfast/base/bytes.hpp>

#include "app/system_entropy.hpp"

namespace holdfast::app {

namespace json = boost::json;

namespace {

std::string indented(const json::value& value, const std::string& margin) {
  const std::string inner = margin + "  ";
  std::string out;
  if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
    for (const auto& [name, member] : *object) {
      out.append(out.empty() ? "{\n" : ",\n").append(inner);
      out.append(json::serialize(json::string(name))).append(": ").append(indented(member, inner));
    }
    return out.append("\n").append(margin).append("}");
  }
  if (const json::array* list = value.if_array(); list != nullptr && !list->empty()) {
    for (const json::value& item : *list) {
      out.append(out.empty() ? "[\n" : ",\n").append(inner).append(indented(item, inner));
    }
    return out.append("\n").append(margin).append("]");
  }
  return json::serialize(value);
}

}  // namespace

Asked ask(const std::string& server, http::ClientRequest request) {
  const char* const token =
      std::getenv("HOLDFAST_TOKEN");  // NOLINT(concurrency-mt-unsafe): one thread
  if (token == nullptr || *token == '\0') {
    std::fputs("holdfast: HOLDFAST_TOKEN must hold a token of scope ops\n", stderr);
    return {exit_usage, {}};
  }
  if (request.method == "POST") {
    SystemEntropy entropy;
    std::array<Byte, 16> chance{};
    entropy.fill(chance);
    request.idempotency_key = to_hex(chance);
  }
  const auto answer = http::ask_server(server, token, request);
  if (!answer) {
    const bool bad_url = answer.error().code == http::ClientError::bad_url;
    std::fprintf(stderr, "holdfast: %s%s\n", bad_url ? "--server: " : "",
                 answer.error().detail.c_str());
    return {bad_url ? exit_usage : exit_environment, {}};
  }
  boost::system::error_code bad;
  json::value body = answer->body.empty() ? json::value{} : json::parse(answer->body, bad);
  if (answer->status / 100 == 2 && !bad) return {exit_done, std::move(body)};
  std::string detail = "it answered " + std::to_string(answer->status);
  if (!bad && body.is_object() && body.as_object().contains("detail")) {
    if (const auto* text = body.as_object().at("detail").if_string()) detail = std::string(*text);
  }
  std::fprintf(stderr, "holdfast: the server refused: %s\n", detail.c_str());
  return {exit_refused, {}};
}

int refused(const std::string& sentence) {
  std::fprintf(stderr, "holdfast: %s\n", sentence.c_str());
  return exit_refused;
}

std::string os_user() {
  constexpr std::size_t longest = 4096;
  std::array<char, longest> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  const uid_t uid = geteuid();
  const int failed = getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  if (failed == 0 && found != nullptr) return found->pw_name;
  return "uid " + std::to_string(uid);
}

void print_json(const json::value& value, bool one_line) {
  std::printf("%s\n", (one_line ? json::serialize(value) : indented(value, "")).c_str());
}

}  // namespace holdfast::app
