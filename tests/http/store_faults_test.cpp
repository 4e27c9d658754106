// A disk that fails: nothing is answered 2xx that was not stored, and the key repeats it.
#include <string>

#include <doctest/doctest.h>

#include "scene.hpp"

namespace holdfast::testing {
namespace {

constexpr const char* intents = "/v1/payment_intents";

SceneOptions on_disk() {
  SceneOptions options;
  options.on_disk = true;
  return options;
}

}  // namespace

TEST_CASE("store faults: a full disk is 503 and nothing happened; with room the same key works") {
  Scene scene(on_disk());
  const std::string token = scene.add_key("shop", {"pay"});
  scene.fill_disk();
  const HttpAnswer full = scene.post(intents, token, "k", transfer_body());
  CHECK(full.status == 503);
  CHECK(full.at("error") == "store_unavailable");
  CHECK(full.header("Retry-After") == "1");
  CHECK(full.body.find("disk") == std::string::npos);
  CHECK(scene.get("/healthz").status == 200);
  scene.make_room();
  const HttpAnswer created = scene.post(intents, token, "k", transfer_body());
  CHECK(created.status == 201);
  CHECK(created.header("Idempotent-Replayed").empty());
  CHECK(scene.get(intents, token).json().at("payment_intents").as_array().size() == 1);
}

TEST_CASE("store faults: a full disk is said by /readyz and a metric, until there is room") {
  Scene scene(on_disk());
  const std::string token = scene.add_key("shop", {"pay"});
  const auto ready = [&](unsigned status) {
    HttpAnswer answer;
    do {
      answer = scene.get("/readyz");
    } while (answer.status != status);
    return answer;
  };
  ready(200);
  scene.fill_disk();
  CHECK(scene.post(intents, token, "k", transfer_body()).status == 503);
  const HttpAnswer no = ready(503);
  CHECK(no.at("detail").find("the store cannot be written: its disk is full") != std::string::npos);
  CHECK(scene.get("/metrics").body.find("holdfast_store_writable 0") != std::string::npos);
  CHECK(scene.get("/metrics").body.find("holdfast_engine_broken 0") != std::string::npos);
  CHECK(scene.get(intents, token).status == 200);
  scene.make_room();
  ready(200);  // with nobody's help
  CHECK(scene.get("/metrics").body.find("holdfast_store_writable 1") != std::string::npos);
}

TEST_CASE("store faults: a commit in doubt is said to be one, and the server is no longer ready") {
  Scene scene(on_disk());
  const std::string token = scene.add_key("shop", {"pay"});
  scene.fail_next_sync();
  const HttpAnswer doubtful = scene.post(intents, token, "k", transfer_body());
  CHECK(doubtful.status == 503);
  CHECK(doubtful.at("error") == "outcome_unknown");
  CHECK(doubtful.at("detail").find("retry with the same Idempotency-Key") != std::string::npos);
  CHECK(scene.post(intents, token, "other", transfer_body()).status == 503);
  HttpAnswer ready;
  do {
    ready = scene.get("/readyz");
  } while (ready.status == 200);
  CHECK(ready.status == 503);
  CHECK(ready.at("detail").find("started anew") != std::string::npos);
  CHECK(scene.get("/metrics").body.find("holdfast_engine_broken 1") != std::string::npos);
}

}  // namespace holdfast::testing
