// An answer's bytes, dates, header names.
#include <doctest/doctest.h>

#include "http/message.hpp"

namespace holdfast::http {

TEST_CASE("message: an answer carries its length, its type and no-store, and no Server") {
  Response response;
  response.status = 201;
  response.body = R"({"a":1})";
  response.headers.push_back({"Location", "/v1/x"});
  Delivery delivery;
  delivery.keep_alive = true;
  delivery.wall_ms = 1'767'225'600'000;
  CHECK(to_wire(response, delivery) ==
        "HTTP/1.1 201 Created\r\n"
        "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
        "Content-Type: application/json; charset=utf-8\r\n"
        "Content-Length: 7\r\n"
        "Cache-Control: no-store\r\n"
        "Location: /v1/x\r\n"
        "\r\n"
        R"({"a":1})");
}

TEST_CASE("message: a HEAD is answered with the whole length and no body") {
  Response response;
  response.body = "12345";
  Delivery delivery;
  delivery.head_only = true;
  const std::string wire = to_wire(response, delivery);
  CHECK(wire.find("Content-Length: 5\r\n") != wire.npos);
  CHECK(wire.ends_with("\r\n\r\n"));
}

TEST_CASE("message: a connection's end is said, and HTTP/1.0 is told when it goes on") {
  const Response response;
  CHECK(to_wire(response, {}).find("Connection: close\r\n") != std::string::npos);
  Delivery old;
  old.http_1_0 = true;
  old.keep_alive = true;
  CHECK(to_wire(response, old).starts_with("HTTP/1.0 200 OK\r\n"));
  CHECK(to_wire(response, old).find("Connection: keep-alive\r\n") != std::string::npos);
}

TEST_CASE("message: no content means no type and no length") {
  Response response;
  response.status = 204;
  const std::string wire = to_wire(response, {});
  CHECK(wire.find("Content-") == wire.npos);
}

TEST_CASE("message: moments are written in UTC, to the millisecond, also before 1970") {
  CHECK(rfc3339(0) == "1970-01-01T00:00:00.000Z");
  CHECK(rfc3339(1'767'225'599'999) == "2025-12-31T23:59:59.999Z");
  CHECK(rfc3339(951'782'400'123) == "2000-02-29T00:00:00.123Z");
  CHECK(rfc3339(-1) == "1969-12-31T23:59:59.999Z");
  CHECK(rfc3339(-62'135'596'800'000) == "0001-01-01T00:00:00.000Z");
  CHECK(rfc3339(-62'198'755'200'000) == "-001-01-01T00:00:00.000Z");
  CHECK(rfc3339(253'402'300'800'007) == "10000-01-01T00:00:00.007Z");
  CHECK(http_date(784'111'777'000) == "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST_CASE("message: header names are found in any case, and counted") {
  Request request;
  request.headers = {{"Host", "a"}, {"X-A", "1"}, {"x-a", "2"}};
  CHECK(request.header("HOST") == "a");
  CHECK(request.header("x-A") == "1");
  CHECK(request.count("X-a") == 2);
  CHECK_FALSE(request.header("X-B").has_value());
}

}  // namespace holdfast::http
