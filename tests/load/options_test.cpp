// What holdfast-load can be told, and how it says no.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "options.hpp"

using namespace holdfast;
using namespace holdfast::load;

namespace {

Options read(const std::vector<const char*>& words) {
  return read_options(tools::Arguments(words));
}

std::string refusal(const std::vector<const char*>& words) {
  try {
    read(words);
  } catch (const tools::UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("load options: what is not said has a value that runs") {
  const Options options = read({});
  CHECK(options.payments == 10'000);
  CHECK(options.in_flight == 1'000);
  CHECK(options.method == Method::native);
  CHECK(options.fault_rate == 0);
  CHECK_FALSE(options.json);
}

TEST_CASE("load options: each is read") {
  const Options options =
      read({"--payments", "7", "--in-flight", "3", "--method", "erc20", "--accounts", "2", "--rate",
            "50", "--fault-rate", "0.05", "--seed", "9", "--block-ms", "20", "--json"});
  CHECK(options.payments == 7);
  CHECK(options.in_flight == 3);
  CHECK(options.method == Method::erc20);
  CHECK(options.accounts == 2);
  CHECK(options.rate == 50);
  CHECK(options.fault_rate == doctest::Approx(0.05));
  CHECK(options.seed == 9);
  CHECK(options.block_ms == 20);
  CHECK(options.json);
}

TEST_CASE("load options: a duration alone ends the run, whatever it submits") {
  CHECK(read({"--duration", "5"}).payments == 100'000'000);
  CHECK(read({"--duration", "5", "--payments", "8"}).payments == 8);
}

TEST_CASE("load options: a refusal names the option and the limit") {
  CHECK(refusal({"--payments", "0"}) ==
        "--payments is a whole number from 1 to 100000000, not '0'");
  CHECK(refusal({"--in-flight", "many"}) ==
        "--in-flight is a whole number from 1 to 1000000, not 'many'");
  CHECK(refusal({"--fault-rate", "0.95"}) == "--fault-rate is a number from 0 to 0.9, not '0.95'");
  CHECK(refusal({"--fault-rate", "1e-2"}) == "--fault-rate is a number from 0 to 0.9, not '1e-2'");
  CHECK(refusal({"--fault-rate", ""}) == "--fault-rate is a number from 0 to 0.9, not ''");
  CHECK(refusal({"--method", "cash"}) == "--method is native, erc20 or authorization, not 'cash'");
  CHECK(refusal({"--chain", "ftp://x"}) ==
        "--chain is null, fake-node or a node's http:// URL, not 'ftp://x'");
  CHECK(refusal({"--chain", "http://127.0.0.1:8545", "--fault-rate", "0.1"}) ==
        "--fault-rate needs --chain null or --chain fake-node");
  CHECK(refusal({"--target", "http://127.0.0.1:1"}) ==
        "--target needs --chain with the http:// URL of its node: what moved is read there");
  CHECK(refusal({"--token-env", "T"}) == "--token-env goes with --target");
  CHECK(refusal({"--rate"}) == "--rate needs a value");
  CHECK(refusal({"--haste"}) == "unknown option '--haste'");
}

TEST_CASE("load options: a store that is there is left alone") {
  const auto file = std::filesystem::temp_directory_path() / "holdfast-load-test.db";
  std::ofstream(file) << "somebody's";
  const std::string path = file.string();
  CHECK(refusal({"--store", path.c_str()}) ==
        "--store names a new file, and '" + path + "' is there already; --on-top adds to it");
  CHECK(read({"--store", path.c_str(), "--on-top"}).on_top);
  std::filesystem::remove(file);
  CHECK(refusal({"--store", "/nowhere/at/all.db"}) ==
        "--store names a file in a folder that exists, and '/nowhere/at' does not");
  CHECK(refusal({"--store", path.c_str(), "--on-top"}) ==
        "--on-top adds to a file that is there, and '" + path + "' is not");
  CHECK(refusal({"--on-top"}) == "--on-top goes with --store");
}
