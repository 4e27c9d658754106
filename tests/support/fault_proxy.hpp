// Owns: a JSON-RPC proxy between the engine and its node that fails as it is told, per method and
// per call, and keeps every raw transaction that passed by.
// Must never: change anything no rule asks it to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "support/http_face.hpp"

namespace holdfast::test {

/// What happens to one call. In a batch it happens to that call alone, the batch being split: a
/// call without an answer is left out of the answer. Where a batch cannot be answered in part (an
/// HTTP status, a slow drip), it happens to the whole exchange.
struct Fault {
  enum class Verb {
    pass,
    delay,       ///< waits `ms`, then forwards
    hold,        ///< forwards at once, answers `ms` later
    drop_reply,  ///< forwards, and closes without answering
    swallow,     ///< never forwards, never answers; the connection stays open
    cut,         ///< closes with a reset before forwarding
    rewrite,     ///< forwards, then changes the answer object
    answer,      ///< never forwards; `change` makes the answer object
    duplicate,   ///< forwards twice, answers with the second answer
    http,        ///< never forwards; answers with a status and a text
    drip,        ///< forwards, answers in small pieces `ms` apart
  } verb = Verb::pass;
  std::int64_t ms = 0;
  int status = 0;
  std::optional<int> retry_after_s = std::nullopt;
  std::string text = {};
  std::string content_type = "application/json";
  /// Of the answer object, which has "jsonrpc" and "id", and "result" or "error" when forwarded.
  std::function<void(boost::json::object& answer, const boost::json::object& request)> change = {};
};

Fault delay(std::int64_t ms);
Fault hold(std::int64_t ms);
Fault drop_reply();
Fault swallow();
Fault cut();
Fault duplicate();
Fault drip(std::int64_t ms);
Fault http_error(int status, std::optional<int> retry_after_s = std::nullopt);
Fault html_page(int status);
/// The answer becomes this result, whatever the node said.
Fault result(boost::json::value value);
/// As `result`, without asking the node.
Fault answer_result(boost::json::value value);
/// An error of the node's, without asking it.
Fault answer_error(int code, std::string message);
/// The node is asked, and its answer replaced by this error.
Fault rewrite_error(int code, std::string message);
Fault rewrite(std::function<void(boost::json::object& answer, const boost::json::object&)> change);

struct Rule {
  std::string method = {};  ///< empty: any
  int from = 1;             ///< counted from when the rule was added, and in matching calls
  int calls = 1;            ///< so many, beginning with `from`; 0: all
  Fault fault = {};
  /// Only calls for which this holds count at all.
  std::function<bool(const boost::json::object& request)> when = {};
};

/// One transaction in one eth_sendRawTransaction.
struct SentRaw {
  std::int64_t wall_ms = 0;
  std::string raw;     ///< lower case, 0x
  std::string hash;    ///< 0x; empty when the bytes could not be read
  std::string sender;  ///< EIP-55
  std::uint64_t nonce = 0;
  bool forwarded = false;
  std::string answer;  ///< the node's error message; empty: taken, or nothing was answered
};

class FaultProxy {
 public:
  explicit FaultProxy(std::uint16_t node_port);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  std::string url() const { return face_.url(); }
  std::uint16_t port() const { return face_.port(); }
  /// The first rule added that matches a call and has calls left decides over it.
  void add(Rule rule);
  /// Asked about each call that no rule decides over, with how many of its method there were, it
  /// included. Called on the connections' threads, one at a time; must not wait.
  using Plan = std::function<Fault(const std::string& method, int call)>;
  void follow(Plan plan);
  /// All rules go, and the plan; what they hold back ends as they said.
  void heal();
  void use_node(std::uint16_t port);
  /// Called with each raw transaction before anything is done with it.
  void observe(std::function<void(const SentRaw&)> observer);

  std::vector<SentRaw> raws() const;
  void forget_raws();
  /// Calls of this method (empty: of any) seen so far, whatever became of them.
  int calls(const std::string& method) const;

 private:
  struct Counted {
    Rule rule;
    int seen = 0;
  };
  struct Call;

  HttpReply handle(const HttpMessage& request);
  Fault decide(const boost::json::object& request);
  void note_raw(Call& call);
  void run(Call& call);
  HttpReply run_all(std::vector<Call>& calls, bool batch);
  HttpReply forward_whole(const std::string& body, std::vector<Call>& calls);
  std::string exchange(const std::string& body);
  void note_answer(const Call& call, const boost::json::object& answer);

  mutable std::mutex mutex_;
  std::uint16_t node_port_;
  std::vector<Counted> rules_;
  Plan plan_;
  std::vector<SentRaw> raws_;
  std::vector<std::pair<std::string, int>> counts_;
  std::function<void(const SentRaw&)> observer_;
  HttpFace face_;  // last: its threads use all the rest
};

}  // namespace holdfast::test
