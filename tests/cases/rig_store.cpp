// The rig's store as files: copied, put back, lost, and changed by a hand that is not ours.
#include <signal.h>
#include <sqlite3.h>

#include <filesystem>
#include <stdexcept>

#include <doctest/doctest.h>

#include "rig.hpp"

namespace holdfast::cases {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> store_files(const std::string& folder, bool with_mark) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("pay.db") && (with_mark || name != "pay.db.mark")) out.push_back(name);
  }
  return out;
}

}  // namespace

void Rig::copy_store(const std::string& from, const std::string& to, bool with_mark) {
  for (const std::string& name : store_files(from, with_mark)) {
    fs::copy(from + "/" + name, to + "/" + name, fs::copy_options::overwrite_existing);
  }
}

void Rig::remove_store(const std::string& folder) {
  for (const std::string& name : store_files(folder, true)) fs::remove(folder + "/" + name);
}

void Rig::lose_store() {
  if (running()) stop(SIGTERM);
  remove_store(folder());
  payments.clear();
  proxy->forget_raws();
  first_block_ = U256::from_0x(rpc("eth_blockNumber").as_string())->to_u64().value_or(0) + 1;
  api_key_ = add_key("shop", "");
}

void Rig::adopt() {
  const std::string target = "/v1/accounts/eip155:31337/" + relayers[0].address + "/adopt";
  // 503 is a good answer while the numbers are read: try again.
  const int errors = server_errors_;
  Answer answer;
  const bool taken = test::within_ms(
      20'000,
      [&] {
        answer = ask("POST", target, R"({"reason":"the numbers are ours"})",
                     "adopt-" + std::to_string(++keys_));
        if (answer.status != 200) mine();
        return answer.status == 200;
      },
      300);
  CHECK_MESSAGE(taken, answer.text);
  server_errors_ = errors;
}

void Rig::tamper(const std::string& sql) const {
  sqlite3* db = nullptr;
  const int opened = sqlite3_open_v2(store_path().c_str(), &db, SQLITE_OPEN_READWRITE, nullptr);
  const int done =
      opened == SQLITE_OK ? sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) : opened;
  const std::string why = sqlite3_errmsg(db);
  sqlite3_close(db);
  if (done != SQLITE_OK) throw std::runtime_error("tampering failed: " + why);
}

}  // namespace holdfast::cases
