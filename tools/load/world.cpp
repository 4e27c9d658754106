#include "world.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "evm/endpoint_pool.hpp"
#include "evm/http_rpc.hpp"
#include "fake_node.hpp"
#include "null_chain.hpp"
#include "plan.hpp"
#include "token.hpp"

namespace holdfast::load {

namespace {

using boost::asio::awaitable;

const domain::ChainId chain_id{chain_name};

// Each account may take all of the load.
std::uint32_t most_unconsumed(const Options& options) {
  return static_cast<std::uint32_t>(options.in_flight + 1'000);
}

class NullWorld final : public World {
 public:
  NullWorld(const Options& options, ports::Clock& clock, SignerNotes* notes,
            const std::optional<domain::BlockRef>& first)
      : chain_({.id = chain_id,
                .max_unconsumed = most_unconsumed(options),
                .block_ms = static_cast<std::int64_t>(options.block_ms),
                .fault_rate = options.fault_rate,
                .seed = options.seed,
                .first = first,
                .notes = notes},
               clock) {}

  ports::Chain& chain() override { return chain_; }
  evm::EvmChain& shape() override { return chain_.shape(); }
  std::uint64_t calls() const override { return chain_.calls(); }
  std::uint64_t requests() const override { return 0; }
  std::uint64_t faults() const override { return chain_.faults(); }
  void hold(bool held) override { chain_.hold(held); }
  std::size_t waiting() const override { return chain_.waiting(); }
  awaitable<std::vector<Moved>> close() override { co_return std::move(chain_.books()); }

 private:
  NullChain chain_;
};

/// The engine's EVM chain over HTTP, as the server builds it.
class HttpWorld : public World {
 public:
  HttpWorld(const Options& options, const std::string& url, std::int64_t poll_ms,
            const boost::asio::any_io_executor& executor, ports::Clock& clock) {
    evm::HttpRpcOptions http;
    http.url = url;
    http.max_waiting_calls = std::max<std::size_t>(http.max_waiting_calls, 8 * options.in_flight);
    auto client = evm::HttpRpc::open(executor, clock, std::move(http));
    if (!client) throw tools::UsageError("--chain: " + client.error().detail);
    http_ = client->get();
    std::vector<evm::PoolMember> members;
    members.push_back({std::move(*client), 1});
    pool_ = std::make_unique<evm::EndpointPool>(executor, clock, chain_number, std::move(members));
    evm::EvmOptions evm;
    evm.id = chain_id;
    evm.max_unconsumed = most_unconsumed(options);
    evm.poll_ms = poll_ms;
    chain_ = std::make_unique<evm::EvmChain>(evm, *pool_, clock);
  }

  ports::Chain& chain() override { return *chain_; }
  evm::EvmChain& shape() override { return *chain_; }
  std::uint64_t calls() const override { return http_->counters().calls; }
  std::uint64_t requests() const override { return http_->counters().requests; }
  std::uint64_t faults() const override { return 0; }

 protected:
  evm::EndpointPool& pool() { return *pool_; }

 private:
  std::unique_ptr<evm::EndpointPool> pool_;
  evm::HttpRpc* http_ = nullptr;  // of pool_
  std::unique_ptr<evm::EvmChain> chain_;
};

/// Started before the client, and ended after it.
struct OwnNode {
  FakeNode node;
  OwnNode(const Options& options, SignerNotes* notes)
      : node({.chain_number = chain_number,
              .fault_rate = options.fault_rate,
              .block_ms = static_cast<std::int64_t>(options.block_ms)},
             options.seed, 0, notes) {}
};

class FakeNodeWorld final : private OwnNode, public HttpWorld {
 public:
  FakeNodeWorld(const Options& options, const boost::asio::any_io_executor& executor,
                ports::Clock& clock, SignerNotes* notes)
      : OwnNode(options, notes), HttpWorld(options, node.url(), 50, executor, clock) {}

  std::uint64_t faults() const override { return node.faults(); }
  awaitable<std::vector<Moved>> close() override {
    pool().close();
    node.stop();
    co_return std::move(node.books());
  }
};

/// Somebody's development node, as anvil: gives its accounts money when asked.
class NodeWorld final : public HttpWorld {
 public:
  NodeWorld(const Options& options, const boost::asio::any_io_executor& executor,
            ports::Clock& clock)
      : HttpWorld(options, options.chain_url, 200, executor, clock),
        method_(options.method),
        seed_(options.seed) {}

  awaitable<void> prepare(std::vector<domain::Address> accounts) override {
    for (const domain::Address& account : accounts) {
      boost::json::array params{account.value, "0x3635c9adc5dea00000"};  // 1000 of its money
      co_await ask("anvil_setBalance", std::move(params));
    }
    if (method_ != Method::native) co_await place_token(accounts);
    const auto head = co_await chain().head();
    if (head.ok() == nullptr) throw std::runtime_error("the node tells no head: " + head.text());
    first_ = head.ok()->latest.height + 1;
  }

  awaitable<std::vector<Moved>> close() override {
    std::vector<Moved> out;
    const auto head = co_await chain().head();
    if (head.ok() == nullptr) throw std::runtime_error("the node tells no head: " + head.text());
    for (std::uint64_t height = first_; height <= head.ok()->latest.height; ++height) {
      const auto block = co_await chain().block(height);
      if (block.ok() == nullptr || !*block.ok()) {
        throw std::runtime_error("the node does not show block " + std::to_string(height) + ": " +
                                 block.text());
      }
      for (const domain::MinedTx& tx : (*block.ok())->txs) note(tx, out);
    }
    pool().close();
    co_return out;
  }

 private:
  awaitable<void> ask(std::string method, boost::json::array params) {
    const auto answer = co_await pool().call(method, std::move(params));
    if (answer.ok() == nullptr) {
      throw std::runtime_error("the node does not do " + method +
                               ", which anvil does: " + answer.text());
    }
  }

  awaitable<void> place_token(const std::vector<domain::Address>& accounts) {
    co_await ask("anvil_setCode", code_params());
    co_await ask("anvil_setStorageAt", name_params());
    co_await ask("anvil_setStorageAt", version_params());
    std::vector<evm::Address20> owners;
    if (method_ == Method::authorization) owners = Payers(seed_).all();
    for (const domain::Address& account : accounts) {
      if (method_ == Method::erc20) owners.push_back(*evm::parse_address(account.value));
    }
    for (const evm::Address20& owner : owners) {
      co_await ask("anvil_setStorageAt", balance_params(owner));
    }
  }

  // A transaction of ours moves one payment: its ref is behind a payout's call, or the nonce of the
  // authorization that it used.
  static void note(const domain::MinedTx& tx, std::vector<Moved>& out) {
    Head ref = tx.trailing_ref ? head_of(tx.trailing_ref->view()) : 0;
    if (!tx.authorizations.empty()) ref = head_of(tx.authorizations.front().nonce.view());
    for (const domain::Transfer& transfer : tx.transfers) {
      const auto payee = from_hex(transfer.to.value);
      out.push_back({ref, head_of(*payee), transfer.amount.to_u64().value_or(0), 0});
    }
  }

  Method method_;
  std::uint64_t seed_;
  std::uint64_t first_ = 0;
};

}  // namespace

awaitable<void> World::prepare(std::vector<domain::Address>) { co_return; }

std::unique_ptr<World> make_world(const Options& options, boost::asio::any_io_executor executor,
                                  ports::Clock& clock, SignerNotes* notes,
                                  const std::optional<domain::BlockRef>& first) {
  switch (options.chain) {
    case ChainKind::null: return std::make_unique<NullWorld>(options, clock, notes, first);
    case ChainKind::fake_node:
      return std::make_unique<FakeNodeWorld>(options, executor, clock, notes);
    case ChainKind::node: break;
  }
  return std::make_unique<NodeWorld>(options, executor, clock);
}

}  // namespace holdfast::load
