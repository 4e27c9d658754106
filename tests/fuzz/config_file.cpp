// Bytes as the configuration file. One that is taken can be started with; of one that is refused,
// each problem names its line and key, and no value.
#include "app/config.hpp"

#include "evm/http_rpc_endpoint.hpp"
#include "fuzz/input.hpp"

namespace holdfast {
namespace {

/// Where this stands in a value only, no sentence may hold it.
constexpr std::string_view secret = "Zq7Zq7";

void check_problems(const app::Problems& problems, std::string_view text) {
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
  for (const app::Problem& problem : problems) {
    fuzz::check_sentence(problem.sentence);
    fuzz::check_sentence(problem.key + ".", 257);
    ensure(problem.line <= lines, "a problem is in a line of the file");
    ensure(!fuzz::holds(problem.sentence, secret), "a problem never tells a value");
  }
  ensure(std::ranges::is_sorted(problems, {}, &app::Problem::line), "problems are in order");
}

void check_chain(const app::ChainConfig& chain) {
  ensure(evm::chain_number(chain.evm.id).has_value(), "a chain has its number");
  ensure(!chain.accounts.empty() && !chain.endpoints.empty(),
         "a chain has an account and an endpoint");
  for (const app::EndpointConfig& endpoint : chain.endpoints) {
    if (endpoint.url.empty()) continue;
    const auto parsed = evm::parse_endpoint(endpoint.url);
    ensure(parsed.has_value(), "a URL that was taken can be used");
    const std::string_view host = parsed->host;
    ensure(fuzz::holds(host, secret) || !fuzz::holds(parsed->shown, secret),
           "what is shown of a URL is its host");
  }
  for (const evm::Eip3009Asset& token : chain.eip3009) {
    const auto address = evm::parse_address(token.asset.value);
    ensure(address && evm::to_checksum(*address) == token.asset.value, "a token is canonical");
  }
  ensure(chain.evm.fees.priority_floor <= chain.evm.fees.max_fee, "the floor is below the ceiling");
}

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const std::string_view text = as_text({data, size});
  const app::Checked checked = app::read_config(text);
  check_problems(checked.problems, text);
  ensure(app::problems_as_text("f", checked.problems).empty() == checked.problems.empty(),
         "problems have a text");
  if (!checked.problems.empty()) return 0;
  ensure(!checked.config.chains.empty() && !checked.config.store_path.empty(),
         "a configuration has a store and a chain");
  for (const app::ChainConfig& chain : checked.config.chains) check_chain(chain);
  return 0;
}
