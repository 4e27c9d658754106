// Owns: the clients: each plan's requests at their times, again with the same key until they are
// answered, however often the engine is not there; and what was answered.
// Must never: give up a request, or ask under another key.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

#include "cases/rig.hpp"
#include "plan.hpp"

namespace holdfast::soak {

/// A payment as its client knows it.
struct Asked {
  Plan plan;
  std::string key;
  std::string body;
  cases::Payment payment = {};  ///< with an id once a 201 came
  bool is_signed = false;  ///< a payer's signature was taken
  std::vector<std::string> complaints = {};  ///< answers that should not have been
};

class Traffic {
 public:
  Traffic(const Settings& settings, cases::Rig& rig);
  ~Traffic();
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  /// The clients begin; time runs from here.
  void start();
  /// Whether every request was answered.
  bool done() const { return open_ == 0; }
  /// Ends the clients, whatever is unanswered.
  void stop();

  std::size_t created() const { return created_; }
  std::uint64_t requests() const { return requests_; }
  std::uint64_t unanswered() const { return unanswered_; }
  /// After stop().
  const std::vector<Asked>& asked() const { return asked_; }

 private:
  enum class What { create, create_again, sign, cancel, abandon };
  struct Errand {
    std::int64_t at_ms;
    std::size_t index;
    What what;
    bool operator>(const Errand& other) const { return at_ms > other.at_ms; }
  };

  void work();
  /// False: to be asked again.
  bool run(const Errand& errand);
  bool create(std::size_t index);
  bool sign(std::size_t index);
  bool end(std::size_t index, What what);
  cases::Answer counted(cases::Answer answer);
  cases::Payment known(std::size_t index) const;
  void complain(std::size_t index, const std::string& what, const cases::Answer& answer);

  cases::Rig& rig_;
  std::int64_t began_ms_ = 0;
  mutable std::mutex mutex_;  // over asked_ and errands_
  std::vector<Asked> asked_;
  std::priority_queue<Errand, std::vector<Errand>, std::greater<>> errands_;
  std::atomic<std::size_t> open_ = 0;
  std::atomic<std::size_t> created_ = 0;
  std::atomic<std::uint64_t> requests_ = 0;
  std::atomic<std::uint64_t> unanswered_ = 0;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> clients_;
};

}  // namespace holdfast::soak
