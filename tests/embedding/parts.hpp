// Owns: what both example servers are made of: the parts that holdfast needs, threads, a folder.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <holdfast/engine/engine.hpp>
#include <holdfast/sqlite/sqlite.hpp>
#include <holdfast/store/store.hpp>

#include "system_ports.hpp"
#include "toy_chain.hpp"
#include "toy_token.hpp"

namespace line_server {

inline const hf::domain::Address till{"till"};

inline void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

/// A fresh folder for the store, gone at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
    require(::mkdtemp(pattern.data()) != nullptr, "no temporary folder");
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline hf::engine::Config engine_config() {
  hf::engine::Config config;
  config.instance_name = "line-server";
  return config;
}

/// Everything holdfast needs, each part before what uses it. The server's io_context may have many
/// threads: the engine, the store's waiters and the chain share one strand.
struct Payments {
  Payments(boost::asio::any_io_executor strand, const std::string& file)
      : chain(clock, {{till, 1'000'000}}),
        payout(chain),
        authorization(chain),
        signer(till),
        store(hf::sqlite::open_sqlite({.path = file}), {.waiters = strand}),
        engine(strand, engine_config(),
               {store,
                clock,
                entropy,
                signer,
                {&chain},
                {&payout, &authorization},
                {{chain.info().id, till, std::nullopt}}}) {}
  // After a drain there is nothing left to drop.
  ~Payments() { engine.abandon(); }

  SystemClock clock;
  SystemEntropy entropy;
  ToyChain chain;
  ToyPayout payout;
  ToyAuthorization authorization;
  ToySigner signer;
  hf::store::Store store;
  hf::engine::Engine engine;
};

/// The server's threads, joined before anything they use is gone.
class Threads {
 public:
  Threads(boost::asio::io_context& context, int count)
      : context_(context), guard_(boost::asio::make_work_guard(context)) {
    for (int i = 0; i < count; ++i) threads_.emplace_back([&context] { context.run(); });
  }
  ~Threads() { context_.stop(); }
  /// Lets them go when the work is done.
  void finish() {
    guard_.reset();
    threads_.clear();
  }

 private:
  boost::asio::io_context& context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_;
  std::vector<std::jthread> threads_;
};

}  // namespace line_server
