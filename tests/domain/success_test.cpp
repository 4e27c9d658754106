// Exactly one success is told for a payment.
#include <doctest/doctest.h>

#include <holdfast/domain/success.hpp>

using namespace holdfast::domain;

namespace {

InstanceId life(std::uint8_t byte) {
  InstanceId out;
  out.value.fill(byte);
  return out;
}

AskerKey key(std::uint8_t byte) {
  AskerKey out;
  out.value.fill(byte);
  return out;
}

SuccessAsker asker(std::optional<AskerKey> by, std::uint8_t request = 1, std::uint8_t in_life = 1) {
  SuccessAsker out{life(in_life), by, {}};
  out.fingerprint.fill(request);
  return out;
}

SuccessTold told(std::optional<AskerKey> by, bool delivered) {
  SuccessTold out{life(1), by, {}, delivered};
  out.fingerprint.fill(1);
  return out;
}

}  // namespace

TEST_CASE("success: the first who asks is told, with a key or without") {
  CHECK(offer_of(std::nullopt, asker(std::nullopt)) == SuccessOffer::first);
  CHECK(offer_of(std::nullopt, asker(key(1))) == SuccessOffer::first);
}

TEST_CASE("success: strangers to the first are duplicates, while it is offered and after") {
  for (const bool delivered : {false, true}) {
    CHECK(offer_of(told(key(1), delivered), asker(key(2))) == SuccessOffer::taken);
    CHECK(offer_of(told(key(1), delivered), asker(std::nullopt)) == SuccessOffer::taken);
    CHECK(offer_of(told(std::nullopt, delivered), asker(key(1))) == SuccessOffer::taken);
    // Two who give no key are strangers to one another.
    CHECK(offer_of(told(std::nullopt, delivered), asker(std::nullopt)) == SuccessOffer::taken);
  }
}

TEST_CASE("success: the same asker is told the same again, in any life, and nothing else") {
  for (const bool delivered : {false, true}) {
    for (const std::uint8_t in_life : {std::uint8_t{1}, std::uint8_t{2}}) {
      CHECK(offer_of(told(key(1), delivered), asker(key(1), 1, in_life)) == SuccessOffer::again);
      CHECK(offer_of(told(key(1), delivered), asker(key(1), 2, in_life)) ==
            SuccessOffer::key_reused);
    }
  }
}

TEST_CASE("success: what a life offered that ended before it was delivered is free for anybody") {
  CHECK(offer_of(told(key(1), false), asker(std::nullopt, 1, 2)) == SuccessOffer::first);
  CHECK(offer_of(told(std::nullopt, false), asker(key(2), 1, 2)) == SuccessOffer::first);
  CHECK(offer_of(told(std::nullopt, true), asker(key(2), 1, 2)) == SuccessOffer::taken);
}
