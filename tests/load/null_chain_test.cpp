// The instant chain: which posts it takes, and what its blocks and books then say.
#include <optional>

#include <doctest/doctest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "app/system_clock.hpp"
#include "keys.hpp"
#include "null_chain.hpp"

using namespace holdfast;
using namespace holdfast::load;
using ports::RefusalKind;

namespace {

struct Bench {
  boost::asio::io_context context{1};
  app::SystemClock clock;
  Keys keys = make_keys(1, 1);
  NullChain chain;

  explicit Bench(double fault_rate = 0) : chain({.fault_rate = fault_rate, .seed = 3}, clock) {}

  // None of the chain's answers waits for anything.
  template <class T>
  T get(boost::asio::awaitable<T> asked) {
    std::optional<T> out;
    boost::asio::co_spawn(context, std::move(asked),
                          [&](const std::exception_ptr&, T answer) { out = std::move(answer); });
    context.restart();
    context.run();
    return std::move(*out);
  }

  ports::SignedTx sealed(std::uint64_t nonce, std::uint64_t amount, std::uint64_t fee = 1'000) {
    ports::Order order;
    order.sender = keys.accounts[0];
    order.sequence = {nonce};
    order.call = {.target = keys.accounts[0], .value = amount, .payload = Bytes(32, Byte{7})};
    order.fees = {.max_fee = fee, .priority_fee = 1, .gas_limit = 60'000};
    const auto signature = get(keys.signer->sign(order.sender, chain.digest(order)));
    return *chain.seal(order, *signature.ok());
  }

  ports::Outcome<ports::Posted> post(const ports::SignedTx& tx) {
    return get(chain.post(tx.bytes, tx.hash));
  }
  bool is_known(const ports::SignedTx& tx) {
    const auto again = post(tx);
    return again.ok() != nullptr && again.ok()->already_known;
  }
};

}  // namespace

TEST_CASE("null chain: what is posted is in the next block, final, and in the books once") {
  Bench bench;
  const auto tx = bench.sealed(0, 5);
  REQUIRE(bench.post(tx).ok() != nullptr);
  CHECK(bench.is_known(tx));
  const auto head = bench.get(bench.chain.head());
  CHECK(head.ok()->finalized == head.ok()->latest);
  const auto block = bench.get(bench.chain.block(head.ok()->latest.height));
  REQUIRE(block.ok()->value().txs.size() == 1);
  const domain::MinedTx mined = block.ok()->value().txs[0];
  CHECK(mined.hash == tx.hash);
  CHECK(mined.sender == bench.keys.accounts[0]);
  CHECK(mined.transfers[0].amount == U256(5));
  CHECK(mined.trailing_ref == domain::Ref::from(Bytes(32, Byte{7})));
  CHECK(bench.chain.books().size() == 1);
  CHECK(bench.is_known(tx));
  CHECK(bench.chain.books().size() == 1);
}

TEST_CASE("null chain: a gap waits for what is below it") {
  Bench bench;
  REQUIRE(bench.post(bench.sealed(1, 5)).ok() != nullptr);
  (void)bench.get(bench.chain.head());
  CHECK(bench.chain.books().empty());
  REQUIRE(bench.post(bench.sealed(0, 6)).ok() != nullptr);
  (void)bench.get(bench.chain.head());
  CHECK(bench.chain.books().size() == 2);
  CHECK(bench.get(bench.chain.sequences(bench.keys.accounts[0])).ok()->finalized.value == 2);
}

TEST_CASE("null chain: a number is used once, and a replacement must offer a tenth more") {
  Bench bench;
  REQUIRE(bench.post(bench.sealed(0, 5)).ok() != nullptr);
  const auto cheap = bench.post(bench.sealed(0, 6, 1'099));
  CHECK(cheap.refused()->kind == RefusalKind::replacement_underpriced);
  REQUIRE(bench.post(bench.sealed(0, 7, 1'100)).ok() != nullptr);
  (void)bench.get(bench.chain.head());
  REQUIRE(bench.chain.books().size() == 1);
  CHECK(bench.chain.books()[0].amount == 7);
  CHECK(bench.post(bench.sealed(0, 8)).refused()->kind == RefusalKind::nonce_too_low);
}

TEST_CASE("null chain: who signed is read from bytes that it did not see made") {
  Bench bench;
  const auto tx = bench.sealed(0, 5);
  NullChain other({}, bench.clock);
  REQUIRE(bench.get(other.post(tx.bytes, tx.hash)).ok() != nullptr);
  CHECK(bench.get(other.sequences(bench.keys.accounts[0])).ok()->pending.value == 1);
}

TEST_CASE("null chain: bytes that are no transfer, or of another hash, are not taken") {
  Bench bench;
  const auto tx = bench.sealed(0, 5);
  CHECK(bench.get(bench.chain.post(tx.bytes, {})).unknown() != nullptr);
  const Bytes foreign{0x02, 0xc0};
  const domain::TxHash hash{evm::keccak256(foreign).value};
  CHECK(bench.get(bench.chain.post(foreign, hash)).refused()->kind == RefusalKind::malformed);
}

TEST_CASE("null chain: faults lose answers and requests, and never a number") {
  Bench bench(0.9);
  int accepted = 0;
  int unknown = 0;
  int refused = 0;
  for (std::uint64_t nonce = 0; nonce < 60; ++nonce) {
    const auto tx = bench.sealed(nonce, 1);
    for (;;) {
      const auto answer = bench.post(tx);
      unknown += answer.unknown() != nullptr ? 1 : 0;
      refused += answer.refused() != nullptr ? 1 : 0;
      if (answer.ok() != nullptr) break;
    }
    ++accepted;
  }
  (void)bench.get(bench.chain.head());
  CHECK(accepted == 60);
  CHECK(unknown > 10);
  CHECK(refused > 5);
  CHECK(bench.chain.books().size() == 60);
  CHECK(bench.chain.faults() > 20);
}

TEST_CASE(
    "null chain: who signed is taken of the signer's notes, once, and else read of the bytes") {
  Bench bench;
  SignerNotes notes;
  NotingSigner signer(*bench.keys.signer, notes);
  NullChain chain({.notes = &notes}, bench.clock);
  ports::Order order;
  order.sender = bench.keys.accounts[0];
  order.call = {.target = order.sender, .value = 5, .payload = Bytes(32, Byte{7})};
  order.fees = {.max_fee = 1'000, .priority_fee = 1, .gas_limit = 60'000};
  const auto signature = bench.get(signer.sign(order.sender, chain.digest(order)));
  const auto tx = *chain.seal(order, *signature.ok());
  const auto says = read_posted(tx.bytes);
  REQUIRE(says.has_value());
  // Somebody else's name in the notes shows that they are asked, and that a name is used up.
  REQUIRE(notes.take(says->signed_by) == order.sender);
  const domain::Address other{"0x00000000000000000000000000000000000000bb"};
  notes.note(says->signed_by, other);
  REQUIRE(bench.get(chain.post(tx.bytes, tx.hash)).ok() != nullptr);
  CHECK(bench.get(chain.sequences(other)).ok()->pending.value == 1);
  CHECK(bench.get(chain.sequences(order.sender)).ok()->pending.value == 0);
  CHECK_FALSE(notes.take(says->signed_by).has_value());
}
