// A served store whose disk fails: it is opened again in the same process, a bounded number of
// times.
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include <holdfast/base/log.hpp>
#include "app/service.hpp"
#include "app/verbs.hpp"
#include "process.hpp"
#include "support/fault_vfs.hpp"
#include "support/http_face.hpp"
#include "support/temp_folder.hpp"
#include "toy_node.hpp"

namespace {

using namespace holdfast;
using test::FaultVfs;
using test::FileKind;
using test::HttpClient;
using test::TempFolder;

const std::string key = "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

/// A service on a thread of its own and on a disk that fails when told to.
class Served {
 public:
  Served() {
    log::set_sink([this](log::Level, std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.append(line).append("\n");
      changed_.notify_all();
    });
    namespace fs = std::filesystem;
    std::ofstream(folder_ / "account.key") << key << "\n";
    fs::permissions(folder_ / "account.key", fs::perms(0600));
    std::ofstream(folder_ / "holdfast.toml")
        << "[store]\npath = \"" << folder_ / "pay.db" << "\"\n[http]\nport = 0\n"
        << "[[chain]]\nid = \"eip155:31337\"\nrpc_url = \"http://127.0.0.1:" << test::closed_port()
        << "\"\npoll_ms = 50\n[[chain.asset]]\naddress = \"native\"\n"
        << "[[chain.account]]\nkey_file = \"" << folder_ / "account.key" << "\"\n";
    const auto added = test::run({"keys", "add", "desk", "--scope", "ops", "--store", path()});
    REQUIRE(added.code == 0);
    token_ = added.out.substr(0, added.out.size() - 1);
    auto config = app::read_config_file(folder_ / "holdfast.toml");
    REQUIRE(config.has_value());
    REQUIRE(config->problems.empty());
    auto opened = app::Service::open(config->config, {.vfs = disk_.name(), .reopen_ms = 20});
    REQUIRE(opened.has_value());
    service_ = std::move(*opened);
    thread_ = std::thread([this] { code_ = service_->run(); });
    const std::string line = wait_for("serving ", 1);
    port_ = static_cast<std::uint16_t>(std::stoul(line.substr(line.find("port=") + 5)));
  }
  ~Served() {
    if (thread_.joinable()) stop();
    log::set_sink([](log::Level, std::string_view) {});
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  std::string path() const { return folder_ / "pay.db"; }
  FaultVfs& disk() { return disk_; }
  int stop() {
    service_->stop();
    return end();
  }
  int end() {
    thread_.join();
    service_.reset();
    return code_;
  }
  /// The nth line with this text, once it is there.
  std::string wait_for(const std::string& text, int nth) {
    std::unique_lock lock(mutex_);
    for (;;) {
      std::size_t at = lines_.find(text);
      for (int i = 1; i < nth && at != std::string::npos; ++i) at = lines_.find(text, at + 1);
      if (at != std::string::npos) return lines_.substr(at, lines_.find('\n', at) - at);
      changed_.wait(lock);
    }
  }
  HttpClient::Answer add_key(const std::string& name) {
    return HttpClient(port_).ask("POST", "/v1/keys",
                                 {{"Authorization", "Bearer " + token_},
                                  {"Idempotency-Key", name},
                                  {"Content-Type", "application/json"}},
                                 R"({"name":")" + name + R"(","scopes":["pay"]})");
  }
  test::HttpAnswer get(const std::string& target) { return test::http_get(port_, target, token_); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string lines_;
  TempFolder folder_;
  FaultVfs disk_{"served"};
  std::string token_;
  std::unique_ptr<app::Service> service_;
  std::thread thread_;
  int code_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace

TEST_CASE("reopening: a sync that failed is survived in the same process, on the same port") {
  Served served;
  CHECK(served.add_key("before").status == 201);
  served.disk().fail_sync(FileKind::wal, 1);
  const auto doubtful = served.add_key("doubtful");
  CHECK(doubtful.status == 503);
  CHECK(doubtful.message.header("Retry-After") == "1");
  served.wait_for("store_reopened", 1);
  const auto again = served.add_key("doubtful");
  // The commit may have come back: what is on disk decides, and it says so.
  CHECK((again.status == 201 || again.status == 409));
  CHECK(served.add_key("after").status == 201);
  const std::string keys = served.get("/v1/keys").body;
  for (const char* name : {"before", "doubtful", "after"}) {
    CHECK(keys.find(name) != std::string::npos);
  }
  CHECK(served.stop() == app::exit_done);
  CHECK(test::run({"audit", "--store", served.path()}).code == 0);
}

TEST_CASE("reopening: while the disk fails every request is 503, and it goes on when it is well") {
  Served served;
  served.disk().freeze();
  CHECK(served.add_key("one").status == 503);
  served.wait_for("store_not_reopened", 1);
  CHECK(served.get("/healthz").status == 200);
  CHECK(served.get("/readyz").status == 503);
  const auto refused = served.add_key("two");
  CHECK(refused.status == 503);
  CHECK(refused.message.header("Retry-After") == "1");
  served.disk().heal();
  served.wait_for("store_reopened", 1);
  CHECK(served.add_key("two").status == 201);
  CHECK(served.stop() == app::exit_done);
}

TEST_CASE("reopening: a disk that fails again and again ends the process, which says so") {
  Served served;
  for (int i = 1; i <= static_cast<int>(app::Reopenings::most); ++i) {
    served.disk().fail_sync(FileKind::wal, 1);
    CHECK(served.add_key("key" + std::to_string(i)).status == 503);
    served.wait_for("store_reopened", i);
  }
  served.disk().fail_sync(FileKind::wal, 1);
  CHECK(served.add_key("last").status == 503);
  CHECK(served.end() == app::exit_environment);
}

TEST_CASE("reopening: the bound is within an hour, and old ones do not count") {
  app::Reopenings reopenings;
  std::int64_t now_ms = 1'000;
  for (std::size_t i = 0; i < app::Reopenings::most; ++i) {
    CHECK(reopenings.may(now_ms));
    reopenings.count(now_ms);
    now_ms += 60'000;
  }
  CHECK_FALSE(reopenings.may(now_ms));
  CHECK_FALSE(reopenings.may(1'000 + app::Reopenings::within_ms - 1));
  CHECK(reopenings.may(1'000 + app::Reopenings::within_ms));
}
