// Owns: a node of our own on a loopback port: JSON-RPC over kept-alive HTTP, on a thread of its
// own. Must never: be reached from another machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "books.hpp"
#include "node_answers.hpp"

namespace holdfast::load {

class FakeNode {
 public:
  /// Listens on 127.0.0.1 and answers until it is destroyed or stopped; port 0: a free one. Throws
  /// boost::system::system_error when the port is taken. `notes`: who signs in this process.
  FakeNode(NodeRules rules, std::uint64_t seed, std::uint16_t port = 0,
           SignerNotes* notes = nullptr);
  ~FakeNode();
  FakeNode(const FakeNode&) = delete;
  FakeNode& operator=(const FakeNode&) = delete;

  std::string url() const;
  std::uint64_t calls() const { return calls_; }  ///< answered so far; from any thread
  std::uint64_t requests() const { return requests_; }  ///< HTTP requests that carried them
  std::uint64_t faults() const { return answers_.faults(); }  ///< once stopped
  /// Ends all connections and joins the thread.
  void stop();
  /// Once stopped.
  std::vector<Moved>& books() { return ledger_.books(); }

 private:
  class Server;
  std::string body_for(const std::string& request);

  Ledger ledger_;
  NodeAnswers answers_;
  std::atomic<std::uint64_t> calls_ = 0;
  std::atomic<std::uint64_t> requests_ = 0;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

}  // namespace holdfast::load
