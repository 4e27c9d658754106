#include "options.hpp"

#include <filesystem>
#include <limits>

namespace holdfast::load {

namespace {

constexpr std::uint64_t most_payments = 100'000'000;
constexpr std::uint64_t most_in_flight = 1'000'000;

ChainKind chain_from(const std::string& text) {
  if (text == "null") return ChainKind::null;
  throw tools::UsageError("--chain is null, not '" + text + "'");
}

Method method_from(const std::string& text) {
  if (text == "native") return Method::native;
  if (text == "erc20") return Method::erc20;
  throw tools::UsageError("--method is native or erc20, not '" + text + "'");
}

// A file that is there is somebody's store: the numbers on this chain would not fit it.
void check_store(const std::string& path) {
  if (path.empty()) return;
  const std::filesystem::path file(path);
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    throw tools::UsageError("--store names a new file, and '" + path + "' is there already");
  }
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw tools::UsageError("--store names a file in a folder that exists, and '" +
                            folder.string() + "' does not");
  }
}

}  // namespace

std::string_view to_text(Method method) { return method == Method::native ? "native" : "erc20"; }

std::string_view help() {
  return "usage: holdfast-load [options]\n"
         "\n"
         "Drives payments through the engine and its store, and asks the chain afterwards what\n"
         "became of them. Exit code 0: each was paid once, or ended as its record says.\n"
         "\n"
         "  --chain null       an instant chain in this process\n"
         "  --method M         native (default) or erc20: payouts\n"
         "  --payments N       1 to 100000000 (10000)\n"
         "  --in-flight N      submitted and not yet settled, 1 to 1000000 (1000)\n"
         "  --accounts N       that pay, 1 to 1024 (32)\n"
         "  --rate N           submitted a second; 0, the default: as fast as they settle\n"
         "  --duration S       seconds; nothing is submitted after them (0: until --payments)\n"
         "  --block-ms MS      between blocks of the null chain (0: whenever the engine looks)\n"
         "  --fault-rate P     0 to 0.9: of the posts, the answer is lost, refused or doubled\n"
         "  --seed N           of keys, payments and faults (1)\n"
         "  --store PATH       a new file, kept; otherwise one is made and removed\n"
         "  --json             one object instead of a table\n";
}

Options read_options(tools::Arguments arguments) {
  Options out;
  out.json = arguments.flag("--json");
  out.chain = chain_from(arguments.text("--chain", "null"));
  out.method = method_from(arguments.text("--method", "native"));
  out.duration_s = arguments.number("--duration", 0, 0, 86'400);
  // A duration alone ends the run; a number alone does too.
  const std::uint64_t payments = out.duration_s > 0 ? most_payments : out.payments;
  out.payments = arguments.number("--payments", payments, 1, most_payments);
  out.in_flight = arguments.number("--in-flight", out.in_flight, 1, most_in_flight);
  out.accounts = arguments.number("--accounts", out.accounts, 1, 1'024);
  out.rate = arguments.number("--rate", 0, 0, 1'000'000);
  out.block_ms = arguments.number("--block-ms", 0, 0, 60'000);
  out.fault_rate = arguments.decimal("--fault-rate", 0, 0, 0.9);
  out.seed = arguments.number("--seed", 1, 0, std::numeric_limits<std::uint64_t>::max());
  out.store = arguments.text("--store", "");
  arguments.finish();
  check_store(out.store);
  return out;
}

}  // namespace holdfast::load
