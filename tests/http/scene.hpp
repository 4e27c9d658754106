// Owns: a real server on a loopback port, before a real engine and store and the scripted chain.
// They run on a thread of their own: sockets in real time, all else by a simulated clock that runs
// twenty times as fast. Tests talk to it over sockets and by the calls below, which wait.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/http/server.hpp>

#include "client.hpp"

namespace holdfast::testing {

struct SceneOptions {
  http::Options http;
  std::int64_t chain_latency_ms = 0;  ///< simulated, of each call
  std::int64_t block_ms = 1'000;      ///< simulated
  bool with_chain = true;
  bool chain_starts_down = false;
  bool on_disk = false;  ///< in a temporary file, on a disk that fails when told to
};

class Scene {
 public:
  explicit Scene(SceneOptions options = {});
  /// Stops server and engine in order.
  ~Scene();

  std::uint16_t port() const;
  /// A new key with these scopes, known to the server; its token.
  std::string add_key(const std::string& name, std::vector<std::string> scopes);
  /// The same by another way than the server: it finds out by itself.
  void add_key_elsewhere(const std::string& name, const std::string& token,
                         std::vector<std::string> scopes);

  HttpAnswer get(const std::string& path, const std::string& token = {});
  HttpAnswer post(const std::string& path, const std::string& token, const std::string& key,
                  const std::string& body);
  HttpAnswer remove(const std::string& path, const std::string& token);

  /// What the payer signs for this payment, "0x…".
  std::string signature(const std::string& id);
  /// How often money moved for this payment on the chain.
  std::size_t moved(const std::string& id);
  std::size_t connections();

  /// Server and engine go and come back on the same store, on another port.
  void restart();
  /// Server::stop; how many answers were cut short.
  std::size_t stop(std::int64_t deadline_ms);
  /// The server's destructor, whatever it is doing.
  void drop_server();
  /// Starts another server beside, and gives the sentence it throws; empty when it starts.
  std::string second_server(http::Options options);
  void drain_engine();
  void set_chain_down(bool down);
  /// Blocks stay empty while set.
  void hold_pool(bool hold);
  /// What the payee of x402.hpp was paid, in base units.
  std::string earned();
  /// The authorized payment's job runs out of its budget, nothing signed: its payment is in review
  /// and the job parked. While the chain is down, or a delivery comes in between.
  void park(const std::string& id);
  void fill_disk();
  void make_room();
  /// The next commit cannot be made durable.
  void fail_next_sync();

 private:
  struct World;
  static boost::asio::awaitable<std::string> try_server(World& world, http::Options options);

  std::unique_ptr<World> world_;
  std::string root_token_;
};

/// The body of a payout, and of a payment its payer signs.
std::string payout_body(const std::string& amount = "1000000");
std::string transfer_body(const std::string& amount = "1000000");

}  // namespace holdfast::testing
