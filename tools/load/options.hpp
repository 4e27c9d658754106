// Owns: what holdfast-load can be told, and the limits of each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/arguments.hpp"

namespace holdfast::load {

enum class ChainKind {
  null,       ///< an instant chain in this process, behind the Chain port
  fake_node,  ///< our own node on loopback, over HTTP
  node,       ///< a development node that is there (anvil), over HTTP
};

enum class Method {
  native,  ///< a payout of the chain's own money
  erc20,   ///< a payout of a token
  authorization,  ///< EIP-3009: payers sign, our accounts submit
};
std::string_view to_text(Method method);

struct Options {
  ChainKind chain = ChainKind::null;
  std::string chain_url;  ///< of a node
  std::string target;     ///< a running holdfast's URL; empty: an engine in this process
  std::string token_env;  ///< the variable with its key; empty: it asks for none
  Method method = Method::native;
  std::uint64_t payments = 10'000;   ///< at most; see duration_s
  std::uint64_t in_flight = 1'000;   ///< submitted and not yet settled, at most
  std::uint64_t accounts = 32;       ///< that pay
  std::uint64_t rate = 0;  ///< submitted a second, at most; 0: as many as there is room for
  std::uint64_t duration_s = 0;  ///< nothing is submitted after; 0: until `payments`
  std::uint64_t block_ms = 0;  ///< between blocks; 0: whenever the engine looks
  double fault_rate = 0;  ///< of all posts: the answer lost, refused, or delivered twice
  std::uint64_t seed = 1;  ///< of keys, payments and faults
  bool restart = false;         ///< ends with a crash, with `in_flight` payments open
  std::string store;  ///< a file, kept; empty: a new one that is removed
  bool on_top = false;  ///< the file is there, and keeps what is in it
  std::string report;                ///< a folder for a page with plots; empty: none
  bool json = false;
};

std::string_view help();
/// Throws tools::UsageError with a sentence that names the option and the limit.
Options read_options(tools::Arguments arguments);

}  // namespace holdfast::load
