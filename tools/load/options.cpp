#include "options.hpp"

#include <filesystem>
#include <limits>

namespace holdfast::load {

namespace {

constexpr std::uint64_t most_payments = 100'000'000;
constexpr std::uint64_t most_in_flight = 1'000'000;

ChainKind chain_from(const std::string& text) {
  if (text == "null") return ChainKind::null;
  if (text == "fake-node") return ChainKind::fake_node;
  if (text.starts_with("http://")) return ChainKind::node;
  throw tools::UsageError("--chain is null, fake-node or a node's http:// URL, not '" + text + "'");
}

Method method_from(const std::string& text) {
  if (text == "native") return Method::native;
  if (text == "erc20") return Method::erc20;
  if (text == "authorization") return Method::authorization;
  throw tools::UsageError("--method is native, erc20 or authorization, not '" + text + "'");
}

// A file that is there is somebody's store, unless it is said to be this harness's.
void check_store(const std::string& path, bool on_top) {
  if (path.empty() && on_top) throw tools::UsageError("--on-top goes with --store");
  if (path.empty()) return;
  const std::filesystem::path file(path);
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(file, ignored);
  if (is_there && !on_top) {
    throw tools::UsageError("--store names a new file, and '" + path +
                            "' is there already; --on-top adds to it");
  }
  if (!is_there && on_top) {
    throw tools::UsageError("--on-top adds to a file that is there, and '" + path + "' is not");
  }
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw tools::UsageError("--store names a file in a folder that exists, and '" +
                            folder.string() + "' does not");
  }
}

// Its blocks are its own, and nothing of it goes wrong on purpose.
void check_node(const Options& options) {
  if (options.chain != ChainKind::node) return;
  if (options.fault_rate > 0) {
    throw tools::UsageError("--fault-rate needs --chain null or --chain fake-node");
  }
  if (options.block_ms > 0) {
    throw tools::UsageError("--block-ms needs --chain null or --chain fake-node");
  }
}

// What moved is read of the chain itself, so the node behind the target must be named as well.
void check_target(const Options& options) {
  if (options.target.empty()) {
    if (options.token_env.empty()) return;
    throw tools::UsageError("--token-env goes with --target");
  }
  if (options.chain != ChainKind::node) {
    throw tools::UsageError(
        "--target needs --chain with the http:// URL of its node: what moved is read there");
  }
  if (!options.store.empty()) {
    throw tools::UsageError("--store is the target's own with --target");
  }
}

}  // namespace

std::string_view to_text(Method method) {
  switch (method) {
    case Method::native: return "native";
    case Method::erc20: return "erc20";
    case Method::authorization: break;
  }
  return "authorization";
}

std::string_view help() {
  return "usage: holdfast-load [options]\n"
         "       holdfast-load node [--port N] [--block-ms MS] [--fault-rate P]\n"
         "\n"
         "Drives payments through the engine and its store, and asks the chain afterwards what\n"
         "became of them. Exit code 0: each was paid once, or ended as its record says.\n"
         "\n"
         "  --chain null       an instant chain in this process (default)\n"
         "  --chain fake-node  a node of our own on loopback: real JSON-RPC over real HTTP\n"
         "  --chain http://…   a development node (anvil) with chain id 31337\n"
         "  --target http://…  a running holdfast, over HTTP; with --chain, its node's URL\n"
         "  --token-env NAME   the variable that holds its key\n"
         "  --method M         native (default) or erc20: payouts; authorization: EIP-3009,\n"
         "                     signed by payers made for the run\n"
         "  --payments N       1 to 100000000 (10000)\n"
         "  --in-flight N      submitted and not yet settled, 1 to 1000000 (1000)\n"
         "  --accounts N       that pay, 1 to 1024 (32)\n"
         "  --rate N           submitted a second; 0, the default: as fast as they settle\n"
         "  --duration S       seconds; nothing is submitted after them (0: until --payments)\n"
         "  --block-ms MS      between blocks of our own chains (0: whenever the engine looks)\n"
         "  --fault-rate P     0 to 0.9: of the posts, the answer is lost, refused or doubled\n"
         "  --restart          then as many as --in-flight once more, a crash with all of them\n"
         "                     open, and the time until all are driven again (restart_ms)\n"
         "  --seed N           of keys, payments and faults (1)\n"
         "  --store PATH       a new file, kept; otherwise one is made and removed\n"
         "  --on-top           PATH is there: a store of `holdfast-bench fill`, or of a run with\n"
         "                     another seed; it keeps what is in it\n"
         "  --report DIR       writes DIR/index.html: the figures with plots, for a browser\n"
         "  --json             one object instead of a table\n"
         "\n"
         "`holdfast-load node` is the fake node alone, for a server as --target, until Ctrl-C.\n";
}

Options read_options(tools::Arguments arguments) {
  Options out;
  out.json = arguments.flag("--json");
  out.chain_url = arguments.text("--chain", "null");
  out.chain = chain_from(out.chain_url);
  out.target = arguments.text("--target", "");
  out.token_env = arguments.text("--token-env", "");
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
  out.on_top = arguments.flag("--on-top");
  out.restart = arguments.flag("--restart");
  out.report = arguments.text("--report", "");
  arguments.finish();
  check_store(out.store, out.on_top);
  if (out.restart && (out.chain != ChainKind::null || out.fault_rate > 0)) {
    throw tools::UsageError("--restart needs --chain null, and no --fault-rate");
  }
  if (out.on_top && out.chain != ChainKind::null) {
    throw tools::UsageError("--on-top needs --chain null");
  }
  check_node(out);
  check_target(out);
  return out;
}

}  // namespace holdfast::load
