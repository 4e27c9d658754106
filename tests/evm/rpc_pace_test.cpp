// When the next request leaves: at once where calls come thinly, together where they come thick.
#include <boost/json/array.hpp>

#include "evm/http_rpc_pace.hpp"
#include "rpc_scene.hpp"

namespace holdfast::evm {
namespace {

constexpr std::size_t full = 100;

/// A pace in a stream of a call a millisecond, the last one at `until_ms`.
Pace in_stream(std::int64_t until_ms) {
  Pace pace;
  for (std::int64_t now = until_ms - 200; now <= until_ms; ++now) pace.called(now);
  return pace;
}

}  // namespace

TEST_CASE("pace: calls that come thick leave together, every six milliseconds") {
  Pace pace = in_stream(10'000);
  pace.sent(10'000);
  CHECK(pace.wait_ms(10'000, 1, full) == 6);
  CHECK(pace.wait_ms(10'004, 5, full) == 2);
  CHECK(pace.wait_ms(10'006, 7, full) == 0);
  CHECK(pace.wait_ms(10'050, 1, full) == 0);
}

TEST_CASE("pace: a request that is full waits for nothing") {
  Pace pace = in_stream(10'000);
  pace.sent(10'000);
  CHECK(pace.wait_ms(10'000, full, full) == 0);
  CHECK(pace.wait_ms(10'000, 1, 1) == 0);  // the node takes no batches
}

TEST_CASE("pace: where calls come thinly none is held back") {
  Pace pace;
  for (std::int64_t now = 9'000; now <= 10'000; now += 3) pace.called(now);
  pace.sent(10'000);
  CHECK(pace.wait_ms(10'000, 1, full) == 0);
}

TEST_CASE("pace: a burst out of silence is not held back, nor what comes after a silence") {
  Pace pace;
  for (int call = 0; call < 500; ++call) pace.called(10'000);
  pace.sent(10'000);
  CHECK(pace.wait_ms(10'001, 1, full) == 0);

  Pace after = in_stream(20'000);
  after.sent(20'200);
  CHECK(after.wait_ms(20'200, 1, full) == 0);
}

TEST_CASE("rpc: under load, calls of several turns share a request, and all are answered") {
  tests::RpcScene scene;
  scene.open();
  std::vector<tests::AskedPtr> all;
  for (int ms = 0; ms < 300; ++ms) {
    all.push_back(scene.ask("m"));
    scene.turn();
    scene.clock.advance(1);
  }
  for (int ms = 0; ms < 10; ++ms) {
    scene.turn();
    scene.clock.advance(1);
  }
  scene.finish(all);
  for (const auto& asked : all) CHECK(asked->ok());
  // The first two windows' calls leave one by one, the others six to a request.
  CHECK(scene.server->seen().size() < 128 + (300 - 128) / 4);
}

}  // namespace holdfast::evm
