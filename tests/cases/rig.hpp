// Owns: one case's world: a node (a real anvil that all cases share, or a scripted one), the fault
// proxy before it, the real binary with a store of its own, accounts of its own, and the questions
// a case asks. At the end `check_all` looks at everything, whatever the case was about.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include "server.hpp"
#include "store_probe.hpp"
#include "support/anvil.hpp"
#include "support/fault_proxy.hpp"
#include "support/real_time.hpp"
#include "support/scripted_node.hpp"
#include "support/temp_folder.hpp"

namespace holdfast::cases {

namespace json = boost::json;

/// Units of the asset that an account is given to start with.
constexpr std::uint64_t start_tokens = 1'000'000'000'000;

/// An account made for one case.
struct Person {
  std::string address;  ///< EIP-55
  std::string key;      ///< 64 hex digits
};
Person new_person();
/// A signed EIP-1559 transaction of anybody's, in hex behind 0x.
std::string signed_raw(const Person& by, std::uint64_t nonce, const std::string& to,
                       ByteView data = {}, const U256& value = {},
                       std::uint64_t tip = 2'000'000'000);

/// When blocks come.
enum class Blocks { by_hand, every_second, at_once };

struct Options {
  Blocks blocks = Blocks::by_hand;
  bool scripted = false;  ///< the scripted node in place of anvil
  test::ScriptedNodeOptions node = {};
  unsigned relayers = 1;
  std::int64_t lease_ms = 5'000;
  std::int64_t stuck_after_ms = 10'000;
  std::int64_t review_after_ms = 60'000;
  std::int64_t retry_cap_ms = 1'000;
  std::int64_t deadline_ms = 2'000;  ///< of a send, as of all calls
  std::int64_t drain_ms = 10'000;
  unsigned rpc_batch = 1;  ///< one call an exchange, so that a fault is the whole exchange's
  unsigned max_unconsumed = 16;
  std::string store_folder = {};  ///< empty: the rig's own
  std::string more_engine = {};   ///< lines for [engine]
  std::string more_chain = {};    ///< lines for [[chain]]
  std::string more_tables = {};   ///< whole tables before the chain: [x402], another [[chain]]
  std::string more_account = {};  ///< lines for each [[chain.account]]
  std::string more_assets = {};   ///< whole [[chain.asset]] tables beside the token's
  std::string log_level = "debug";
  bool kill_points = false;  ///< the binary that has them
  std::string rpc_url = {};  ///< another way to the proxy, or another node; empty: the proxy
  bool proxy_too = false;  ///< a second proxy before the same node, as a second endpoint
  std::string token = {};  ///< an asset of the case's own, put there before; nobody has any of it
  std::vector<std::string> environment = {};  ///< "NAME=value", for the engine's process
};

/// What one Transfer event of the asset says.
struct Transfer {
  std::string ref;  ///< of the authorization used, else the last 32 bytes of the calldata
  std::string from;  ///< EIP-55, as `to`
  std::string to;
  U256 amount;
  std::string tx_hash;
};

struct Answer {
  int status = 0;  ///< 0: none came
  json::value body = nullptr;
  std::string text = {};
  bool replayed = false;
};

/// One payment of a case.
struct Payment {
  std::string id;
  std::string ref;
  std::string key;  ///< the idempotency key of its creation
  std::string request;  ///< that request's body
  std::string first_answer;
  std::string token;  ///< the API key it came with
  std::string method;
};

/// What a case does not hold to, each with the reason at the place of use.
struct Allowed {
  bool server_errors = false;  ///< 5xx answers: a store fault was injected
  bool more_numbers = false;  ///< a second number for an intent
  bool more_bodies = false;  ///< other bytes at the same number
  bool queued = false;  ///< transactions left above a gap, or gaps in the numbers
  bool unpaired_transfers = false;  ///< the chain was taken back below its final height
  bool unsettled = false;  ///< payments that are not terminal
  bool wiped = false;  ///< attempts were deleted from the store by a hand that is not ours
};

class Rig {
 public:
  explicit Rig(Options options = {});
  /// HOLDFAST_CASES_KEEP names a folder to copy store, log and posted transactions to.
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  // --- the engine -------------------------------------------------------------------------------
  /// Starts it and waits until it serves and its chain is usable. `kill_at` as HOLDFAST_KILL_AT.
  void start(const std::string& kill_at = "");
  /// Starts it without waiting for anything but the process.
  void start_unready(const std::string& kill_at = "");
  bool ready();
  void kill();
  Ended stop(int signal, std::int64_t ms = 30'000);
  /// Waits for an end that a kill point brings.
  bool dies_within(std::int64_t ms);
  bool running() { return server_ && server_->running(); }
  std::string log() const;
  std::string verb(const std::vector<std::string>& arguments, int* code = nullptr) const;
  Server& server() { return *server_; }
  /// The configuration is written anew at each start.
  Options options;

  // --- its API ----------------------------------------------------------------------------------
  Answer ask(const std::string& method, const std::string& target, const std::string& body = "",
             const std::string& key = "", const std::string& token = "");
  std::string payout_body(const std::string& amount = "1000000") const;
  std::string authorization_body(const std::string& amount = "1000000") const;
  /// A payout, asked for with an idempotency key of its own.
  Payment payout(const std::string& amount = "1000000");
  /// Created and not signed.
  Payment created(const std::string& amount = "1000000");
  /// Created and signed by the payer.
  Payment authorized(const std::string& amount = "1000000");
  std::vector<Payment> payouts(int count);
  Payment ask_for(const std::string& body, const std::string& key, const std::string& token = "");
  Answer sign(const Payment& payment, const Answer& created);
  json::value detail(const std::string& id);
  /// A number of GET /metrics, since the process was started; 0 when it is not there.
  std::int64_t metric(const std::string& name);
  std::string state(const std::string& id);
  /// Asks until it stands there.
  bool reaches(const std::string& id, const std::string& state, std::int64_t ms = 10'000);
  /// Mines a block at a time until all stand there.
  bool mine_until(const std::vector<Payment>& all, const std::string& state,
                  std::int64_t ms = 20'000);
  bool mine_until(const Payment& one, const std::string& state, std::int64_t ms = 20'000);
  /// A second API key, another caller.
  std::string add_key(const std::string& name, const std::string& scope);
  /// An operator answers for what used the first account elsewhere; asks until it is taken.
  void adopt();
  /// Stopped; the store's files go, and a new store begins with a key for the same caller. What was
  /// before is no business of `check_all` any more.
  void lose_store();
  /// The store's files, the watermark beside them included; `from` and `to` are folders.
  static void copy_store(const std::string& from, const std::string& to, bool with_mark);
  static void remove_store(const std::string& folder);
  /// Statements of a hand that is not ours, on the store of a stopped engine.
  void tamper(const std::string& sql) const;
  bool logged(const std::string& words) const { return log().find(words) != std::string::npos; }

  // --- the chain --------------------------------------------------------------------------------
  json::value rpc(const std::string& method, const json::array& params = {}) const;
  void mine(unsigned blocks = 1);
  void set_blocks(Blocks blocks);
  void fund(const Person& person);
  std::uint64_t nonce(const Person& person, const std::string& tag = "latest") const;
  bool is_mined(const std::string& hash) const;
  void set_token_balance(const Person& person, std::uint64_t amount);
  /// All transfers of the asset since the rig was made, those that minted it left out.
  std::vector<Transfer> moved() const;
  /// How many transfers of the payee's carry this ref.
  std::size_t transfers(const Payment& payment) const;
  std::size_t transfers_of_all() const;

  // --- looking back -----------------------------------------------------------------------------
  StoreProbe store() const { return StoreProbe(store_path()); }
  std::string store_path() const;
  std::string config_path() const { return folder_ / "holdfast.toml"; }
  std::string folder() const { return folder_.path().string(); }
  const std::string& api_key() const { return api_key_; }
  /// What the store says of a payment's row, by its ref.
  std::int64_t count_of(const Payment& payment, const std::string& from_and_where) const;
  /// How many transactions that are no noops of the store's went by, since they were forgotten.
  std::size_t pays_sent() const;
  /// Raw transactions of the payment's own attempts that passed the proxy.
  std::vector<test::SentRaw> raws_of(const Payment& payment) const;

  /// Copies store, log and configuration there, and writes down the posted transactions.
  void keep(const std::string& folder) const;
  /// Replays, a stop if it runs, then everything: see checks.cpp.
  void check_all(const Allowed& allowed = {});

  std::unique_ptr<test::ScriptedNode> node;  ///< when scripted
  std::unique_ptr<test::FaultProxy> proxy;
  std::unique_ptr<test::FaultProxy> second;  ///< the second endpoint, when there are two
  std::string token;  ///< the asset
  std::vector<Person> relayers;
  Person payer = new_person();
  Person merchant = new_person();
  std::vector<Payment> payments;

 private:
  friend class Checks;

  void write_config() const;
  std::string rpc_url_line() const;
  std::uint16_t node_port() const;

  test::TempFolder folder_;
  std::unique_ptr<Server> server_;
  std::atomic<std::uint16_t> port_ = 0;  // asked at by several threads while it is started again
  std::string api_key_;
  std::uint64_t first_block_ = 0;
  int keys_ = 0;
  int server_errors_ = 0;
  mutable std::mutex stored_first_mutex_;
  std::vector<std::string> posted_unstored_;  // hashes that arrived before they were stored
};

/// The node that all cases share; anvil is started by the first that asks.
test::Anvil& shared_anvil();

std::string text_of(const json::value& object, const std::string& member);

}  // namespace holdfast::cases
