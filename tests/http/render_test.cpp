// The JSON texts, pinned: clients and replays depend on every byte.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "http/metrics.hpp"
#include "http/render.hpp"

namespace holdfast::http {
namespace {

domain::Intent an_intent() {
  domain::Intent intent;
  intent.id.value[0] = 0xab;
  intent.ref.value[31] = 0x01;
  intent.caller = {"shop"};
  intent.terms = {{"sim:1"}, {"tkn"}, {"payer"}, {"merchant"}, U256::max(), {"payout"}};
  intent.created_ms = 1'767'225'600'001;
  intent.updated_ms = 1'767'225'600'002;
  intent.publish_before_s = 1'767'229'200;
  return intent;
}

const std::string intent_text =
    R"("id":"pi_ab000000000000000000000000000000",)"
    R"("ref":"0x0000000000000000000000000000000000000000000000000000000000000001",)"
    R"("state":"created","version":1,"chain":"sim:1","method":"payout","asset":"tkn",)"
    R"("payer":"payer","payee":"merchant",)"
    R"("amount":"115792089237316195423570985008687907853269984665640564039457584007913129639935",)"
    R"("tx_hash":null,"reason":null,"cancel_asked":false,)"
    R"("created_at":"2026-01-01T00:00:00.001Z","updated_at":"2026-01-01T00:00:00.002Z",)"
    R"("publish_before":"2026-01-01T01:00:00.000Z")";

}  // namespace

TEST_CASE("render: an intent is every field of the list and no other") {
  CHECK(render_intent(an_intent()) == "{" + intent_text + "}");
  CHECK(render_created(an_intent(), "") == "{" + intent_text + "}");
}

TEST_CASE("render: a payer's window stands in chain seconds, the typed data as an object") {
  domain::Intent intent = an_intent();
  intent.bearer = true;
  intent.validity = {0, 1'767'229'230};
  CHECK(render_created(intent, R"({"message":{"nonce":"0x01"}})") ==
        "{" + intent_text + R"(,"validity":{"after":0,"before":1767229230},)" +
            R"("typed_data":{"message":{"nonce":"0x01"}}})");
}

TEST_CASE("render: a payment's detail shows attempts without bytes, and names to operators only") {
  engine::Detail detail;
  detail.intent = an_intent();
  domain::Attempt attempt;
  attempt.bytes = {1, 2, 3};
  attempt.fees = {U256(7), U256(2), 21'000};
  attempt.stored_ms = 1;
  detail.attempts = {attempt};
  engine::HistoryItem step;
  step.seq = 3;
  step.kind = "move";
  step.to = "created";
  step.actor = "api";
  step.who = "desk";
  step.version = 1;
  detail.history = {step};
  domain::Entry entry = domain::make_hold(detail.intent.id, {"sim:1"}, {"tkn"}, {"payer"}, 5, 0);
  detail.journal = {{9, entry, Digest{}}};
  domain::Slot slot;
  slot.account = {"relayer0"};
  slot.sequence = {4};
  detail.slot = slot;

  const std::string tail =
      R"(,"slot":{"account":"relayer0","sequence":4,"state":"reserved"},"attempts":[{"hash":null,)"
      R"("kind":"pay","outcome":"stored","max_fee":"7","priority_fee":"2","gas_limit":21000,)"
      R"("stored_at":"1970-01-01T00:00:00.001Z","posted_at":null}],"history":[{"seq":3,)"
      R"("at":"1970-01-01T00:00:00.000Z","kind":"move","from":null,"to":"created","actor":"api",)";
  const std::string rest =
      R"("reason":null,"tx_hash":null,"version":1}],"journal":[{"sequence":9,)"
      R"("id":"pi_ab000000000000000000000000000000/hold","kind":"hold","chain":"sim:1",)"
      R"("asset":"tkn","at":"1970-01-01T00:00:00.000Z","legs":[{"account":"source:payer",)"
      R"("amount":"-5"},{"account":"hold:sim:1","amount":"5"}],)"
      R"("hash":"0x0000000000000000000000000000000000000000000000000000000000000000"}]})";
  CHECK(render_detail(detail, false) == "{" + intent_text + tail + rest);
  CHECK(render_detail(detail, true) == "{" + intent_text + tail + R"("who":"desk",)" + rest);
}

TEST_CASE("render: pages, events and keys say how to go on, and keys never their digest") {
  engine::Page page;
  CHECK(render_page(page) == R"({"payment_intents":[],"next_cursor":null})");
  page.next = 12;
  CHECK(render_page(page) == R"({"payment_intents":[],"next_cursor":"12"})");
  CHECK(render_events({}, 41) == R"({"events":[],"next_after":41})");
  engine::ApiKey key;
  key.name = "shop";
  key.scopes = {"pay"};
  key.sha256.fill(0xee);
  CHECK(render_keys(std::vector{key}) ==
        R"({"keys":[{"name":"shop","scopes":["pay"],"created_at":"1970-01-01T00:00:00.000Z",)"
        R"("revoked_at":null}]})");
  CHECK(render_new_key(key, "hf_x") == R"({"name":"shop","scopes":["pay"],"token":"hf_x"})");
}

TEST_CASE("render: a text from outside cannot leave its string") {
  CHECK(render_problem("bad", "\"},{\"\n") == R"({"error":"bad","detail":"\"},{\"\n"})");
}

TEST_CASE("metrics: a histogram's buckets are cumulative and end with its count") {
  RequestMetrics requests;
  for (const std::int64_t ms : {0, 1, 2, 3, 70'000}) {
    requests.count("GET", "/healthz", 200, ms);
  }
  const std::string text = metrics_text(requests, {}, {}, false, engine::DeskCounts{2, 3});
  CHECK(text.find("\nholdfast_dead_letters_open 2\n") != std::string::npos);
  CHECK(text.find("\nholdfast_reviews_open 3\n") != std::string::npos);
  const auto has = [&](const std::string& line) {
    CAPTURE(line);
    CHECK(text.find(line + "\n") != text.npos);
  };
  const std::string name = "holdfast_http_request_seconds";
  const std::string labels = R"(method="GET",route="/healthz",status="200")";
  has(name + "_bucket{" + labels + R"(,le="0.001"} 2)");
  has(name + "_bucket{" + labels + R"(,le="0.002"} 3)");
  has(name + "_bucket{" + labels + R"(,le="0.005"} 4)");
  has(name + "_bucket{" + labels + R"(,le="60"} 4)");
  has(name + "_bucket{" + labels + R"(,le="+Inf"} 5)");
  has(name + "_count{" + labels + "} 5");
  has(name + "_sum{" + labels + "} 70.006");
}

}  // namespace holdfast::http
