#include "weather.hpp"

#include <signal.h>

#include <exception>

#include "support/real_time.hpp"

namespace holdfast::soak {

namespace json = boost::json;

namespace {

bool is_on_engine(Blow blow) {
  return blow == Blow::kill || blow == Blow::kill_again || blow == Blow::drain ||
         blow == Blow::sleep;
}

}  // namespace

Weather::Weather(const Settings& settings, cases::Rig& rig, Faults& faults)
    : rig_(rig), faults_(faults) {
  for (const BlowAt& one : blows_of(settings)) {
    (is_on_engine(one.blow) ? on_engine_ : on_chain_).push_back(one);
  }
}

Weather::~Weather() {
  stopping_ = true;
  ending_ = true;
  for (std::thread& one : threads_) one.join();
}

void Weather::start() {
  began_ms_ = test::mono_ms();
  running_ = 2;
  threads_.emplace_back([this] {
    run(on_engine_, true);
    faults_.set_outage(false);
    revive();
    --running_;
    // The engine is this thread's child, and the kernel ends it with the thread.
    while (!ending_) test::pause_ms(20);
  });
  threads_.emplace_back([this] {
    run(on_chain_, false);
    --running_;
  });
}

void Weather::stop() {
  stopping_ = true;
  while (running_ > 0) test::pause_ms(10);
}

void Weather::run(const std::vector<BlowAt>& blows, bool of_engine) {
  for (const BlowAt& one : blows) {
    while (!stopping_ && test::mono_ms() - began_ms_ < one.at_ms) {
      test::pause_ms(10);
      if (of_engine) revive();
    }
    if (stopping_) return;
    try {
      if (strike(one)) ++counts_.at(static_cast<std::size_t>(one.blow));
    } catch (const std::exception& error) {
      // Of the node: another block came in between.
      if (of_engine) complain(error.what());
    }
  }
  while (of_engine && !stopping_) {
    test::pause_ms(10);
    revive();
  }
}

bool Weather::strike(const BlowAt& what) {
  switch (what.blow) {
    case Blow::kill:
      rig_.kill();
      restart(what.ms);
      return true;
    case Blow::kill_again:
      rig_.kill();
      restart(0);
      test::pause_ms(what.ms);
      rig_.kill();
      restart(0);
      return true;
    case Blow::drain: {
      const cases::Ended ended = rig_.stop(SIGTERM);
      if (ended.code != 0) complain("a drain ended with code " + std::to_string(ended.code));
      restart(what.ms);
      return true;
    }
    case Blow::sleep:
      rig_.server().signal(SIGSTOP);
      test::pause_ms(what.ms);
      rig_.server().signal(SIGCONT);
      return true;
    case Blow::outage:
      faults_.set_outage(true);
      test::pause_ms(what.ms);
      faults_.set_outage(false);
      return true;
    case Blow::empty_pool: rig_.rpc("anvil_dropAllTransactions"); return true;
    case Blow::drop_one: return drop_newest();
    case Blow::reorg: return reorg(false);
    case Blow::reorg_kept: return reorg(true);
  }
  return false;
}

void Weather::restart(std::int64_t after_ms) {
  test::pause_ms(after_ms);
  rig_.start_unready();
  if (!rig_.running()) return complain("it ended while it started");
  if (rig_.ask("GET", "/healthz").status == 0) complain("it started, and did not serve in time");
}

/// An end that no blow brought is noted, and it is started again.
void Weather::revive() {
  if (rig_.running()) return;
  complain("the engine ended by itself; the log says why");
  rig_.start_unready();
  // Not again and again: an engine that cannot start is one complaint.
  if (!rig_.running()) test::pause_ms(5'000);
}

bool Weather::drop_newest() {
  const auto raws = rig_.proxy->raws();
  if (raws.empty() || rig_.is_mined(raws.back().hash)) return false;
  rig_.rpc("anvil_dropTransaction", json::array{raws.back().hash});
  return true;
}

bool Weather::reorg(bool keep) {
  json::array again;
  if (keep) {
    const json::value newest = rig_.rpc("eth_getBlockByNumber", json::array{"latest", false});
    const auto raws = rig_.proxy->raws();
    for (const json::value& hash : newest.at("transactions").as_array()) {
      for (const test::SentRaw& raw : raws) {
        if (raw.hash != hash.as_string()) continue;
        again.emplace_back(json::array{raw.raw, 0});
        break;
      }
    }
  }
  rig_.rpc("anvil_reorg", json::array{1, again});
  return true;
}

json::object Weather::as_json() const {
  json::object out;
  for (std::size_t i = 0; i < blow_count; ++i) {
    out[to_text(static_cast<Blow>(i))] = counts_.at(i).load();
  }
  return out;
}

std::vector<std::string> Weather::complaints() const {
  const std::lock_guard lock(mutex_);
  return complaints_;
}

void Weather::complain(const std::string& what) {
  const std::lock_guard lock(mutex_);
  complaints_.push_back(what);
}

}  // namespace holdfast::soak
