// Bytes as a buyer's payment header, and as the JSON in one. A header is refused with a sentence or
// put together with a price into a body of /settle; what passes the rules pays that very price.
#include <holdfast/base/base64.hpp>

#include "fuzz/input.hpp"
#include "http/x402/offers.hpp"
#include "http/x402/rules.hpp"

namespace holdfast {
namespace {

namespace x402 = http::x402;

const std::string asset = "0x" + std::string(40, 'a');
const std::string seller = "0x" + std::string(40, '2');

x402::Price price_of(std::uint64_t amount, std::string network, bool permit2) {
  x402::Price out;
  out.network = std::move(network);
  out.asset = asset;
  out.pay_to = seller;
  out.amount = U256(amount);
  out.name = "USD Coin";
  out.version = "2";
  out.permit2 = permit2;
  return out;
}

const x402::Offer& offer() {
  static const x402::Offer out{
      "http://shop.test/page",
      "One page",
      "text/plain",
      {price_of(7, "eip155:1", false), price_of(25, "sim:1", false), price_of(25, "sim:1", true)}};
  return out;
}

const std::vector<x402::Network>& networks() {
  static const std::vector<x402::Network> out{
      {"sim:1",
       "sim:1",
       true,
       {{{asset}, "USD Coin", "2", {"transfer_authorization", "permit2"}}},
       {}}};
  return out;
}

const http::X402Options& options() {
  static const http::X402Options out = [] {
    http::X402Options made;
    made.networks = {{"sim-net", "sim:1"}};
    return made;
  }();
  return out;
}

void check_header(std::string_view header) {
  const x402::Opened opened = x402::open_payment(offer(), header, options(), networks());
  ensure(opened.echo.version == 1 || opened.echo.version == 2, "a version is one that there is");
  if (opened.reason != x402::Reason::none) {
    fuzz::check_sentence(opened.message);
    ensure(opened.body.empty(), "what is refused is not asked about");
    return;
  }
  const x402::Read read = x402::read_body(opened.body);
  if (read.reason != x402::Reason::none) return fuzz::check_sentence(read.message);
  const x402::Verdict verdict = x402::judge(read.request, options(), networks());
  if (verdict.reason != x402::Reason::none) return fuzz::check_sentence(verdict.message);
  ensure(verdict.payment.amount == U256(25) && verdict.payment.chain == "sim:1" &&
             read.request.payload.value == U256(25),
         "what passes pays a price that was offered");
}

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const ByteView input(data, size);
  check_header(as_text(input));
  check_header(to_base64(input));
  return 0;
}
