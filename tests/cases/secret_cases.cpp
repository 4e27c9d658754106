// Case A: what must never be printed.
#include <signal.h>

#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast::cases;
using namespace holdfast;

TEST_CASE("A1: no key, token or credential of a node is in a log, an error or an answer") {
  Options options;
  options.kill_points = true;
  Rig rig(options);
  const std::vector<std::string> secrets{"useR4mark", "passW0rdmark", "pathS3cretmark",
                                         "queryK3ymark"};
  const std::string port = std::to_string(rig.proxy->port());
  rig.options.rpc_url = "http://" + secrets[0] + ":" + secrets[1] + "@127.0.0.1:" + port + "/v3/" +
                        secrets[2] + "?key=" + secrets[3];
  std::string heard;
  const auto listen = [&] {
    for (const char* target : {"/healthz", "/readyz", "/metrics", "/v1/chains", "/v1/keys",
                               "/v1/events", "/v1/payment_intents", "/v1/nowhere"}) {
      heard += rig.ask("GET", target).text;
    }
    heard += rig.ask("POST", "/v1/payment_intents", "{", "bad").text;
    heard += rig.ask("GET", "/v1/chains", "", "", "hf_wrong").text;
  };
  // Another chain, a proxy's page, a node that breaks off, one that counts calls.
  const std::vector<test::Fault> faults{test::answer_result("0x5"), test::html_page(502),
                                        test::cut(), test::http_error(429, 1),
                                        test::answer_error(-32000, "nonsense")};
  for (const test::Fault& fault : faults) {
    rig.proxy->heal();
    rig.proxy->add({.calls = 0, .fault = fault});
    rig.start_unready();
    test::pause_ms(700);
    listen();
    rig.kill();
  }
  // A node that is not there at all, and TLS where none is spoken.
  const std::string good = rig.options.rpc_url;
  rig.options.rpc_url = "https" + good.substr(4);
  rig.start_unready();
  test::pause_ms(700);
  listen();
  CHECK(rig.stop(SIGTERM).code == 0);
  rig.options.rpc_url = "http://" + secrets[0] + ":" + secrets[1] + "@127.0.0.1:1/" + secrets[2];
  rig.start_unready();
  test::pause_ms(500);
  listen();
  rig.kill();
  // A configuration that is refused.
  rig.options.rpc_url = "ftp" + good.substr(4);
  rig.start_unready();
  rig.server().wait(5'000);
  // And a payment, over a crash.
  rig.options.rpc_url = good;
  rig.proxy->heal();
  rig.start("KP5");
  rig.payout();
  CHECK(rig.dies_within(10'000));
  rig.start();
  CHECK(rig.mine_until(rig.payments, "settled"));
  listen();
  heard += rig.ask("GET", "/v1/payment_intents/" + rig.payments[0].id).text;
  const std::string log = rig.log();
  CHECK(log.find("127.0.0.1") != std::string::npos);  // the host's name is shown
  std::vector<std::string> all = secrets;
  all.push_back(rig.relayers[0].key);
  all.push_back(rig.api_key());
  for (const std::string& secret : all) {
    CHECK(log.find(secret) == std::string::npos);
    CHECK(heard.find(secret) == std::string::npos);
  }
  Allowed allowed;
  allowed.server_errors = true;  // the node's trouble
  rig.check_all(allowed);
}
