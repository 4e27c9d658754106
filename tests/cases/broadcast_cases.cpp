// Cases B: what a node did with a transaction is not known, and what is done about it.
#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

const std::string send_raw = "eth_sendRawTransaction";

void unknown_then_settled(const test::Fault& fault) {
  Options options;
  options.stuck_after_ms = 4'000;
  Rig rig(options);
  rig.proxy->add({.method = send_raw, .fault = fault});
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(test::within_ms(5'000, [&] { return !rig.proxy->raws().empty(); }));
  const json::value unknown = rig.detail(one.id);
  CHECK(text_of(unknown, "state") == "settling");
  CHECK(unknown.at("journal").as_array().size() == 1);
  CHECK(text_of(unknown.at("slot"), "state") == "signed");
  CHECK(text_of(unknown.at("attempts").at(0), "hash") == rig.proxy->raws()[0].hash);
  // Nothing is known until the send timed out, and then the same bytes go out.
  CHECK(rig.reaches(one.id, "confirming", 12'000));
  CHECK(rig.mine_until(one, "settled"));
  CHECK(rig.transfers(one) == 1);
  rig.check_all();
}

}  // namespace

TEST_CASE("B1: a send timed out though the node took it") {
  unknown_then_settled(test::hold(60'000));
}

TEST_CASE("B1: a send timed out that the node never got") { unknown_then_settled(test::swallow()); }
