// holdfast-bench micro: each hot part of a payment's way alone, by Google Benchmark.
// The queue, which is measured by what it does with many jobs at once, is a verb of its own.
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/domain/decide.hpp>
#include <holdfast/engine/keyed_queue.hpp>
#include <holdfast/sqlite/sqlite.hpp>
#include <holdfast/store/store.hpp>

#include "benchmarks.hpp"
#include "evm/erc20.hpp"
#include "evm/http_rpc_batch.hpp"
#include "evm/secp.hpp"
#include "evm/transaction.hpp"
#include "evm/wire.hpp"
#include "payments.hpp"
#include "store/writes.hpp"
#include "support/folder.hpp"
#include "support/process.hpp"
#include "support/report.hpp"

namespace holdfast::bench {

namespace {

using ::benchmark::DoNotOptimize;
using ::benchmark::State;
using boost::asio::awaitable;

void rethrow(std::exception_ptr error) {
  if (error) std::rethrow_exception(error);
}

template <class Value>
Value must(Result<Value> result) {
  if (result.has_error()) throw std::runtime_error("refused: " + result.error().detail);
  return std::move(*result);
}

evm::SecretKey some_key() {
  return must(evm::SecretKey::from(sha256(as_bytes("holdfast-bench/micro"))));
}

evm::Hash32 some_digest(std::uint64_t number) {
  evm::Hash32 out;
  for (std::size_t i = 0; i < sizeof number; ++i) {
    out.value[i] = static_cast<Byte>(number >> (8 * i));
  }
  return out;
}

// ---- EVM ----------------------------------------------------------------------------------------

void sign(State& state) {
  const evm::SecretKey key = some_key();
  std::uint64_t number = 0;
  for (auto _ : state) DoNotOptimize(evm::sign(some_digest(++number), key));
}

void recover(State& state) {
  const evm::Hash32 digest = some_digest(1);
  const evm::Signature signature = evm::sign(digest, some_key());
  for (auto _ : state) DoNotOptimize(evm::recover(digest, signature));
}

// A payout as the engine sends it: a token's transfer with a ref behind the arguments.
void encode_1559(State& state) {
  evm::Address20 to;
  to.value.fill(0xa1);
  evm::Bytes32 ref;
  ref.value.fill(0xb2);
  evm::Transaction1559 tx;
  tx.chain_id = 31'337;
  tx.nonce = 70'000;
  tx.max_priority_fee = U256(1'000'000'000);
  tx.max_fee = U256(30'000'000'000);
  tx.gas_limit = 80'000;
  tx.to = to;
  tx.data = evm::encode_transfer({.to = to, .amount = U256(1'000'000), .ref = ref});
  const evm::Signature signature = evm::sign(evm::signing_digest(tx), some_key());
  for (auto _ : state) DoNotOptimize(evm::encode_signed(tx, signature));
}

std::string receipt_text() {
  const auto hex = [](char digit, std::size_t digits) {
    return "\"0x" + std::string(digits, digit) + "\"";
  };
  const std::string hash = hex('1', 64);
  const std::string block = hex('2', 64);
  const std::string where = "\"blockHash\":" + block +
                            ",\"blockNumber\":\"0x10\",\"transactionHash\":" + hash +
                            ",\"transactionIndex\":\"0x0\"";
  const std::string log =
      "{\"address\":" + hex('3', 40) +
      R"(,"topics":["0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",)" +
      "\"0x" + std::string(24, '0') + std::string(40, '4') + "\",\"0x" + std::string(24, '0') +
      std::string(40, '5') + "\"],\"data\":" + hex('0', 64) + ",\"logIndex\":\"0x0\"," + where +
      ",\"removed\":false}";
  return "{" + where + R"(,"type":"0x2","status":"0x1","from":)" + hex('4', 40) +
         ",\"to\":" + hex('3', 40) +
         R"(,"gasUsed":"0xea60","effectiveGasPrice":"0x6fc23ac00","cumulativeGasUsed":"0xea60",)" +
         "\"contractAddress\":null,\"logsBloom\":" + hex('0', 512) + ",\"logs\":[" + log + "]}";
}

// An answer with a receipt, from the text that came to the receipt the listener reads.
void parse_receipt(State& state) {
  const std::string body = R"({"jsonrpc":"2.0","id":7,"result":)" + receipt_text() + "}";
  const std::vector<std::uint64_t> ids = {7};
  const evm::Secrets secrets;
  const auto read = [&] {
    const auto answer = evm::read_answer(ids, body, secrets);
    const auto* value = answer.outcomes.at(0).ok();
    if (value == nullptr) throw std::runtime_error("the receipt's answer is not read");
    return evm::read_receipt(*value);
  };
  if (read().value().events.size() != 1) throw std::runtime_error("the receipt's log is not read");
  for (auto _ : state) DoNotOptimize(read());
}

// A batch as of a burst of posts: a hundred hashes.
void parse_batch_of_100(State& state) {
  std::vector<std::uint64_t> ids;
  std::string body = "[";
  for (std::uint64_t id = 1; id <= 100; ++id) {
    ids.push_back(id);
    body += (id > 1 ? "," : "") + std::string(R"({"jsonrpc":"2.0","id":)") + std::to_string(id) +
            R"(,"result":"0x)" + std::string(64, 'a') + "\"}";
  }
  body += "]";
  const evm::Secrets secrets;
  for (auto _ : state) DoNotOptimize(evm::read_answer(ids, body, secrets));
}

// ---- engine and domain --------------------------------------------------------------------------

awaitable<void> take_turns(engine::KeyedQueue<std::uint64_t>& queue, State& state) {
  std::uint64_t key = 0;
  for (auto _ : state) DoNotOptimize(co_await queue.turn(++key));
}

// A key that nobody holds: every delivery's case.
void keyed_queue_turn(State& state) {
  boost::asio::io_context io(1);
  engine::KeyedQueue<std::uint64_t> queue;
  co_spawn(io, take_turns(queue, state), rethrow);
  io.run();
}

awaitable<void> take_one(engine::KeyedQueue<int>& queue) { (void)co_await queue.turn(1); }

awaitable<void> hold_and_pass(engine::KeyedQueue<int>& queue, int waiting) {
  const engine::Turn turn = co_await queue.turn(1);
  const auto executor = co_await boost::asio::this_coro::executor;
  for (int i = 0; i < waiting; ++i) co_spawn(executor, take_one(queue), rethrow);
  // They stand in line before this turn ends.
  co_await boost::asio::post(executor, boost::asio::use_awaitable);
}

// A hundred that wait for one key, each in a coroutine of its own.
void keyed_queue_line_of_100(State& state) {
  boost::asio::io_context io(1);
  engine::KeyedQueue<int> queue;
  for (auto _ : state) {
    co_spawn(io, hold_and_pass(queue, 100), rethrow);
    io.restart();
    io.run();
  }
  if (queue.keys() != 0) throw std::runtime_error("a key is held by nobody");
}

domain::Facts authorized_facts() {
  const store::NewIntent made = payout(1, {"0x00000000000000000000000000000000000000A1"});
  domain::Facts out;
  out.intent = made.intent;
  return out;
}

// The first three decisions of a payout: take a slot, simulate, claim.
void decide(State& state) {
  const domain::Facts facts = authorized_facts();
  const domain::Policy policy;
  domain::Now now;
  now.wall_ms = facts.intent.created_ms;
  now.chain_s = now.wall_ms / 1000;
  std::vector<domain::Seen> seen(3);
  seen[1].send_slot.emplace();
  seen[2].send_slot.emplace();
  seen[2].simulation.emplace().result = domain::SimulationSeen::Result::passes;
  if (domain::name_of(domain::decide(facts, seen[2], policy, now)) != "claim") {
    throw std::runtime_error("the payment that is decided on is not one to claim");
  }
  std::size_t at = 0;
  for (auto _ : state) {
    DoNotOptimize(domain::decide(facts, seen[at], policy, now));
    at = (at + 1) % seen.size();
  }
}

// ---- the store ----------------------------------------------------------------------------------

awaitable<void> write_once(store::Store& store, std::int64_t now_ms) {
  co_await store.write([now_ms](store::Txn& txn) { store::probe_write(txn, now_ms); });
}

// Durable writes of one row each, `writers` of them waiting at once.
void commit(State& state, const std::string& file, int writers) {
  boost::asio::io_context io(1);
  store::Store store(sqlite::open_sqlite({.path = file}), {.waiters = io.get_executor()});
  std::int64_t now_ms = 0;
  for (auto _ : state) {
    for (int i = 0; i < writers; ++i) co_spawn(io, write_once(store, ++now_ms), rethrow);
    io.restart();
    io.run();
  }
}

// ---- the run ------------------------------------------------------------------------------------

/// Takes the medians of the runs into a report.
class Medians final : public ::benchmark::BenchmarkReporter {
 public:
  explicit Medians(tools::Report& report) : report_(report) {}
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) throw std::runtime_error(run.error_message);
      // With one repetition there is no aggregate.
      const bool is_median = run.aggregate_name == "median" || run.repetitions <= 1;
      if (!is_median) continue;
      const std::string name = run.run_name.function_name;
      report_.add(name + "_ns", name + ": ns", run.GetAdjustedRealTime(), 1);
      ++reported_;
    }
  }
  std::size_t reported() const { return reported_; }

 private:
  tools::Report& report_;
  std::size_t reported_ = 0;
};

void enlist(int repeat, const std::filesystem::path& folder) {
  const std::vector<std::pair<std::string, std::function<void(State&)>>> parts = {
      {"sign", sign},
      {"recover", recover},
      {"encode_1559", encode_1559},
      {"parse_receipt", parse_receipt},
      {"parse_batch_of_100", parse_batch_of_100},
      {"keyed_queue_turn", keyed_queue_turn},
      {"keyed_queue_line_of_100", keyed_queue_line_of_100},
      {"decide", decide},
      {"commit", [folder](State& state) { commit(state, folder / "one.db", 1); }},
      {"commit_of_256", [folder](State& state) { commit(state, folder / "many.db", 256); }},
  };
  for (const auto& [name, part] : parts) {
    ::benchmark::RegisterBenchmark(name.c_str(), part)
        ->Repetitions(repeat)
        ->ReportAggregatesOnly(true)
        ->MinTime(0.1)
        ->UseRealTime();
  }
}

}  // namespace

int run_micro(tools::Arguments arguments) {
  const bool json = arguments.flag("--json");
  const std::string filter = arguments.text("--filter", ".*");
  const auto repeat = arguments.number("--repeat", 5, 1, 100);
  const std::filesystem::path parent =
      arguments.text("--folder", std::filesystem::temp_directory_path().string());
  arguments.finish();

  tools::warn_if_in_memory("holdfast-bench micro", parent);
  const tools::Folder folder(parent, "holdfast-bench");
  enlist(static_cast<int>(repeat), std::filesystem::path(folder / "x").parent_path());
  tools::Report report;
  Medians medians(report);
  ::benchmark::RunSpecifiedBenchmarks(&medians, filter);
  if (medians.reported() == 0) {
    throw tools::UsageError("--filter matches no benchmark: " + filter);
  }
  report.print(json);
  return 0;
}

}  // namespace holdfast::bench
