// Cases S: told to stop in the middle of things.
#include <signal.h>

#include <atomic>
#include <mutex>
#include <thread>

#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

/// With a send under way that is answered three seconds later.
struct InTheSend {
  explicit InTheSend(std::int64_t drain_ms) : rig(options(drain_ms)) {
    rig.proxy->add({.method = "eth_sendRawTransaction", .fault = test::hold(3'000)});
    rig.start();
    one = rig.payout();
    REQUIRE(test::within_ms(5'000, [&] { return !rig.proxy->raws().empty(); }));
    test::pause_ms(500);
  }
  static Options options(std::int64_t drain_ms) {
    Options out;
    out.drain_ms = drain_ms;
    out.deadline_ms = 8'000;
    return out;
  }
  void again() {
    rig.start();
    CHECK(rig.mine_until(one, "settled"));
    CHECK(rig.transfers(one) == 1);
    rig.check_all();
  }

  Rig rig;
  Payment one;
};

}  // namespace

TEST_CASE("S1: a stop with time enough records the answer") {
  InTheSend scene(10'000);
  CHECK(scene.rig.stop(SIGTERM).code == 0);
  CHECK(scene.rig.count_of(scene.one, "WHERE i.state = 'confirming'") == 1);
  CHECK(scene.rig.store().number("SELECT count(*) FROM jobs") == 0);
  scene.again();
}

TEST_CASE("S1: a stop with too little time leaves the job, and the number where it was") {
  InTheSend scene(1'000);
  const std::int64_t began_ms = test::mono_ms();
  CHECK(scene.rig.stop(SIGTERM).code == 0);
  CHECK(test::mono_ms() - began_ms < 2'500);
  CHECK(scene.rig.count_of(scene.one, "WHERE i.state = 'settling'") == 1);
  CHECK(scene.rig.store().number("SELECT count(*) FROM jobs") == 1);
  CHECK(scene.rig.store().number("SELECT count(*) FROM slots WHERE state = 'signed'") == 1);
  scene.again();
}

TEST_CASE("S1: told twice, it still records the answer before it stops") {
  InTheSend scene(10'000);
  scene.rig.server().signal(SIGTERM);
  test::pause_ms(500);
  scene.rig.server().signal(SIGTERM);
  CHECK(scene.rig.server().wait(15'000).code == 0);
  CHECK(scene.rig.count_of(scene.one, "WHERE i.state = 'confirming'") == 1);
  CHECK(scene.rig.store().number("SELECT count(*) FROM slots WHERE state = 'released'") == 0);
  scene.again();
}

TEST_CASE("S1: killed while it drains") {
  InTheSend scene(10'000);
  scene.rig.server().signal(SIGTERM);
  test::pause_ms(300);
  scene.rig.kill();
  CHECK(scene.rig.store().number("SELECT count(*) FROM slots WHERE state = 'signed'") == 1);
  scene.again();
}

TEST_CASE("S3: requests cut off by a stop are there whole or not at all") {
  Rig rig;
  rig.start();
  constexpr std::size_t clients = 20;
  struct Client {
    std::vector<std::string> made;  // keys answered with 201
    std::string last;
  };
  std::vector<Client> all(clients);
  std::atomic<bool> stopped = false;
  std::vector<std::thread> threads;
  threads.reserve(clients);
  for (std::size_t i = 0; i < clients; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; !stopped && n < 10'000; ++n) {
        all[i].last = "s3-" + std::to_string(i) + "-" + std::to_string(n);
        const Answer answer =
            rig.ask("POST", "/v1/payment_intents", rig.authorization_body(), all[i].last);
        if (answer.status != 201) return;
        all[i].made.push_back(all[i].last);
      }
    });
  }
  test::pause_ms(700);
  CHECK(rig.stop(SIGTERM).code == 0);
  stopped = true;
  for (std::thread& thread : threads) thread.join();
  rig.start();
  std::size_t keys = 0;
  for (const Client& client : all) {
    CHECK_FALSE(client.made.empty());
    keys += client.made.size();
    if (client.made.empty() || client.made.back() != client.last) ++keys;
    for (const std::string& key : client.made) {
      const Answer again = rig.ask("POST", "/v1/payment_intents", rig.authorization_body(), key);
      CHECK(again.status == 201);
      CHECK(again.replayed);
    }
    CHECK(rig.ask("POST", "/v1/payment_intents", rig.authorization_body(), client.last).status ==
          201);
  }
  CHECK(rig.store().number("SELECT count(*) FROM intents") == static_cast<std::int64_t>(keys));
  Allowed allowed;
  allowed.server_errors = true;  // 503 while it stops
  allowed.unsettled = true;      // created, and signed by nobody
  rig.check_all(allowed);
}
