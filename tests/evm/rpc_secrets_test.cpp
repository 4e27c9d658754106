// Secrets in the URL, and every way of failing there is: none of them may show up anywhere.
#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <holdfast/base/log.hpp>

#include "rpc_scene.hpp"

namespace holdfast::evm {
namespace {

namespace json = boost::json;
using tests::AskedPtr;
using tests::http_ok;
using tests::http_reply;
using tests::RpcScene;
using tests::RpcServer;

const std::vector<std::string> markers = {"MARKuser", "MARKpass", "MARKpath", "MARKquery",
                                          "TUFSS3VzZXI6TUFSS3Bhc3M="};

/// Everything that is logged while it lives.
struct Captured {
  std::string lines;
  Captured() {
    log::set_level(log::Level::debug);
    log::set_sink([this](log::Level, std::string_view line) {
      lines += line;
      lines += '\n';
    });
  }
  ~Captured() {
    log::set_sink([](log::Level, std::string_view) {});  // the one before cannot be had back
    log::set_level(log::Level::info);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
};

std::string secret_url(std::uint16_t port, const std::string& scheme = "http") {
  return scheme + "://MARKuser:MARKpass@127.0.0.1:" + std::to_string(port) +
         "/v3/MARKpath/x?key=MARKquery";
}

void check_clean(const std::string& where, const std::string& text) {
  for (const std::string& marker : markers) {
    CAPTURE(where);
    CAPTURE(text);
    CHECK(text.find(marker) == std::string::npos);
  }
}

/// All secrets at once, as a proxy may echo them.
std::string leak(const RpcServer::Request& request) {
  return "cannot POST " + request.head.substr(0, request.head.find("\r\n")) +
         " MARKuser:MARKpass TUFSS3VzZXI6TUFSS3Bhc3M=";
}

std::string error_with(const RpcServer::Request& request, int code, const std::string& words) {
  const auto answer = [&](const json::value& call) -> json::value {
    return json::object{{"id", call.at("id")},
                        {"error", {{"code", code}, {"message", words + leak(request)}}}};
  };
  if (request.body.is_object()) return json::serialize(answer(request.body));
  json::array all;
  for (const auto& call : request.body.get_array()) all.push_back(answer(call));
  return json::serialize(all);
}

}  // namespace

TEST_CASE("rpc secrets: no ending and no log line holds a part of the URL that may be secret") {
  Captured log;
  using Request = RpcServer::Request;
  using Reply = RpcServer::Reply;
  const std::vector<RpcServer::Script> scripts = {
      [](const Request& r) { return http_ok(error_with(r, -32000, "nonce too low: ")); },
      [](const Request& r) { return http_ok(error_with(r, -32000, "words nobody knows: ")); },
      [](const Request& r) { return http_ok(error_with(r, 3, "execution reverted: ")); },
      [](const Request& r) { return http_ok(error_with(r, -32005, "limit: ")); },
      [](const Request& r) { return http_ok(error_with(r, -32000, "already known: ")); },
      [](const Request& r) { return http_reply(404, leak(r)); },
      [](const Request& r) { return http_reply(500, leak(r)); },
      [](const Request& r) { return http_reply(429, leak(r), "Retry-After: 0\r\n"); },
      [](const Request& r) { return http_reply(301, leak(r), "Location: " + leak(r) + "\r\n"); },
      [](const Request& r) { return http_ok(leak(r)); },
      [](const Request& r) {
        return http_ok(R"({"id":null,"error":{"code":-1,"message":")" + leak(r) + "\"}}");
      },
      [](const Request& r) {
        return http_ok(R"({"error":{"code":-1,"message":"batch )" + leak(r) + "\"}}");
      },
      [](const Request& r) { return Reply{.bytes = leak(r), .close = true}; },
      [](const Request&) { return Reply{.bytes = "", .close = true}; },
      [](const Request&) { return Reply{.bytes = "", .reset = true}; },
      [](const Request&) { return Reply{.bytes = ""}; },
  };
  for (std::size_t at = 0; at < scripts.size(); ++at) {
    RpcScene scene(scripts[at]);
    scene.open({.url = secret_url(scene.server->port())});
    check_clean("name", scene.rpc->name());
    for (const int count : {1, 3}) {
      const auto all = scene.ask_many(count);
      scene.run_until([&] { return !scene.server->seen().empty(); });
      scene.turn();
      for (int step = 0; step < 40; ++step) {
        scene.clock.advance(500);
        scene.turn();
      }
      scene.finish(all);
      for (const AskedPtr& asked : all) {
        CHECK_FALSE(asked->ok());
        check_clean("script " + std::to_string(at), asked->text());
      }
    }
    // The request itself does carry them: that is what they are for.
    const auto& head = scene.server->seen()[0].head;
    CHECK(head.starts_with("POST /v3/MARKpath/x?key=MARKquery HTTP/1.1\r\n"));
    CHECK(head.find("Authorization: Basic TUFSS3VzZXI6TUFSS3Bhc3M=\r\n") != std::string::npos);
  }
  CHECK_FALSE(log.lines.empty());
  check_clean("log", log.lines);
}

TEST_CASE("rpc secrets: nor does a failure to connect, to shake hands or to find the host") {
  Captured log;
  RpcScene scene;
  const std::uint16_t port = scene.server->port();
  scene.open({.url = secret_url(port, "https")});  // the server speaks no TLS
  const auto plain = scene.ask("m");
  for (int step = 0; step < 20; ++step) {
    scene.turn();
    scene.clock.advance(500);
  }
  scene.finish(plain);
  check_clean("tls", plain->text());

  scene.server->stop();
  scene.server->hang_up();
  scene.open({.url = secret_url(port)});
  const auto refused = scene.ask("m");
  scene.finish(refused);
  CHECK(refused->not_sent());
  check_clean("connect", refused->text());

  scene.open({.url = "http://MARKuser:MARKpass@node.example/MARKpath?MARKquery",
              .lookup = [](const std::string&, const AddressesFound& found) { found({}); }});
  const auto unnamed = scene.ask("m");
  scene.finish(unnamed);
  CHECK(unnamed->not_sent());
  CHECK(unnamed->text().find("http://node.example:80") != std::string::npos);
  check_clean("host", unnamed->text());
  CHECK_FALSE(log.lines.empty());
  check_clean("log", log.lines);
}

TEST_CASE("rpc secrets: a configuration that is refused is not repeated") {
  boost::asio::io_context context;
  tests::ManualClock clock(context.get_executor());
  const auto check = [&](HttpRpcOptions options, RpcError code) {
    const auto opened = HttpRpc::open(context.get_executor(), clock, std::move(options));
    REQUIRE(opened.has_error());
    CHECK(opened.error().code == code);
    check_clean("error", opened.error().detail);
  };
  check({.url = "ftp://MARKuser:MARKpass@host/MARKpath?MARKquery"}, RpcError::bad_url);
  check({.url = "http://MARKuser:MARKpass@host:bad/MARKpath?MARKquery"}, RpcError::bad_url);
  check({.url = "https://MARKuser:MARKpass@host/MARKpath", .ca_file = "/no/such/file"},
        RpcError::bad_ca_file);
  const std::string good = "http://MARKuser:MARKpass@host/MARKpath";
  check({.url = good, .deadline_ms = 0}, RpcError::bad_limit);
  check({.url = good, .max_connections = 0}, RpcError::bad_limit);
  check({.url = good, .max_batch_calls = 0}, RpcError::bad_limit);
  check({.url = good, .max_answer_bytes = 0}, RpcError::bad_limit);
}

}  // namespace holdfast::evm
