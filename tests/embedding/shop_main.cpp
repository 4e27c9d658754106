// A shop and its buyers: 402, payment, 200 with proof, and the same payment refused afterwards; in
// both versions of x402, over TCP, with the engine on a strand of the server's own io_context. Exit
// code 0 only if the seller holds exactly what was served for.
#include <chrono>
#include <cstdio>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/json.hpp>

#include <holdfast/base/base64.hpp>
#include <holdfast/base/log.hpp>

#include "parts.hpp"
#include "shop_server.hpp"

namespace {

namespace asio = boost::asio;
namespace hf = holdfast;
namespace http = boost::beast::http;
namespace json = boost::json;
namespace x402 = holdfast::x402;
using asio::ip::tcp;
using hf::engine::Engine;
using namespace line_server;

constexpr std::int64_t patience_ms = 30'000;
constexpr int buyers_at_once = 8;
const hf::domain::Address seller{"0x5e11e20000000000000000000000000000000001"};
const hf::domain::Address buyer{"0xb0b0000000000000000000000000000000000002"};
const hf::U256 cost = 250;
const hf::U256 purse = 10'000;

Page page_for_sale() {
  x402::Price price;
  price.network = "toy:1";
  price.asset = toy_token.value;
  price.pay_to = seller.value;
  price.amount = cost;
  price.name = "Toy";
  price.version = "1";
  return {{"http://shop.test/page", "One page", "text/plain", {price}}, "the page\n"};
}

struct Reply {
  unsigned status = 0;
  http::response<http::string_body> message;

  std::string header(const std::string& name) const {
    const auto found = message.find(name);
    if (found == message.end()) return {};
    return {found->value().data(), found->value().size()};
  }
  json::object decoded(const std::string& name) const {
    const auto bytes = hf::from_base64(header(name), 1'000'000);
    require(bytes.has_value(), name + " is not base64");
    return json::parse(std::string(hf::as_text(*bytes))).as_object();
  }
};

/// One GET over a connection of its own.
Reply get(const tcp::endpoint& server, const std::string& name = "", const std::string& value = "",
          const std::string& target = "/page") {
  asio::io_context context;
  tcp::socket socket(context);
  socket.connect(server);
  http::request<http::empty_body> request{http::verb::get, target, 11};
  request.set(http::field::host, "shop.test");
  request.set(http::field::connection, "close");
  if (!name.empty()) request.set(name, value);
  http::write(socket, request);
  boost::beast::flat_buffer buffer;
  Reply reply;
  http::read(socket, buffer, reply.message);
  reply.status = reply.message.result_int();
  return reply;
}

std::string base64_of(const json::object& object) {
  return hf::to_base64(hf::as_bytes(json::serialize(object)));
}

/// What a buyer signs for these terms.
json::object signed_payload(unsigned char number, const hf::U256& amount) {
  ToyTransfer transfer{buyer, seller, amount, {}};
  transfer.authorization.nonce.value[0] = number;
  transfer.authorization.validity = {0, SystemClock().wall_ms() / 1'000 + 300};
  transfer.authorization.signature = signature_of(transfer);
  json::object authorization;
  authorization["from"] = transfer.from.value;
  authorization["to"] = transfer.to.value;
  authorization["value"] = amount.decimal();
  authorization["validAfter"] = "0";
  authorization["validBefore"] = std::to_string(transfer.authorization.validity.before_s);
  authorization["nonce"] = transfer.authorization.nonce.hex();
  return {{"signature", hf::to_0x(transfer.authorization.signature)},
          {"authorization", std::move(authorization)}};
}

std::string version_2(const json::value& accepted, unsigned char number,
                      const hf::U256& amount = cost) {
  return base64_of(
      {{"x402Version", 2}, {"accepted", accepted}, {"payload", signed_payload(number, amount)}});
}

void buy_in_version_2(const tcp::endpoint& server, const json::value& terms) {
  const std::string payment = version_2(terms, 1);
  const Reply served = get(server, "PAYMENT-SIGNATURE", payment);
  require(served.status == 200 && served.message.body() == "the page\n",
          "paid and not served: " + json::serialize(served.decoded("PAYMENT-RESPONSE")));
  const json::object proof = served.decoded("PAYMENT-RESPONSE");
  require(proof.at("success").as_bool() && !proof.at("transaction").as_string().empty(),
          "served without a proof");

  const Reply again = get(server, "PAYMENT-SIGNATURE", payment);
  require(again.status == 402, "one payment bought two pages");
  const json::object refusal = again.decoded("PAYMENT-RESPONSE");
  require(refusal.at("errorReason").as_string() == "invalid_exact_evm_nonce_already_used" &&
              refusal.at("transaction") == proof.at("transaction"),
          "the second use is not refused with the first one's hash");
}

void buy_in_version_1(const tcp::endpoint& server, const json::object& demand) {
  const json::object& terms = demand.at("accepts").at(0).as_object();
  const std::string payment = base64_of({{"x402Version", 1},
                                         {"scheme", terms.at("scheme")},
                                         {"network", terms.at("network")},
                                         {"payload", signed_payload(2, cost)}});
  const Reply served = get(server, "X-PAYMENT", payment);
  require(served.status == 200, "paid in version 1 and not served");
  require(served.decoded("X-PAYMENT-RESPONSE").at("network").as_string() == "toy", "network");
  require(get(server, "X-PAYMENT", payment).status == 402, "one payment bought two pages");
}

void buy_at_once(const tcp::endpoint& server, const json::value& terms) {
  const std::string payment = version_2(terms, 3);
  std::vector<std::future<Reply>> replies;
  for (int i = 0; i < buyers_at_once; ++i) {
    replies.push_back(
        std::async(std::launch::async, [&] { return get(server, "PAYMENT-SIGNATURE", payment); }));
  }
  int served = 0;
  for (auto& reply : replies) served += reply.get().status == 200 ? 1 : 0;
  require(served == 1, "one payment at once bought " + std::to_string(served) + " pages");
}

void pay_badly(const tcp::endpoint& server, const json::value& terms) {
  for (const std::string& payment :
       {version_2(terms, 4, 249), std::string("no base64"), std::string("e30="),
        std::string("W10="), version_2({{"scheme", "exact"}}, 5)}) {
    const Reply reply = get(server, "PAYMENT-SIGNATURE", payment);
    require(reply.status == 402 && !reply.decoded("PAYMENT-RESPONSE").at("success").as_bool(),
            "bad payment: " + payment);
    require(!reply.header("PAYMENT-REQUIRED").empty(), "no new demand after a bad payment");
  }
}

void buy_all(const tcp::endpoint& server) {
  const Reply asked = get(server);
  require(asked.status == 402, "served for nothing");
  const json::object demand = asked.decoded("PAYMENT-REQUIRED");
  const json::value terms = demand.at("accepts").at(0);
  require(terms.at("amount").as_string() == cost.decimal(), "the demand asks another amount");
  buy_in_version_2(server, terms);
  buy_in_version_1(server, json::parse(asked.message.body()).as_object());
  buy_at_once(server, terms);
  pay_badly(server, terms);
  require(get(server, "", "", "/other").status == 404, "/other");
}

// A chain that was not looked at yet settles nothing.
void wait_until_open(Engine& engine) {
  const auto is_open = [&engine] {
    return engine
        .call([](Engine& e) -> asio::awaitable<bool> { co_return e.chains().at(0).can_send; },
              asio::use_future)
        .get();
  };
  for (int tries = 0; !is_open(); ++tries) {
    require(tries < 500, "the chain cannot be settled on");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void run() {
  hf::log::set_sink([](hf::log::Level level, std::string_view line) {
    if (level < hf::log::Level::warn) return;
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  });
  const TempFolder folder;
  asio::io_context context;
  Payments parts(asio::make_strand(context), folder / "payments.db");
  parts.chain.mint(buyer, purse);
  x402::ShopOptions options;
  options.networks = {{"toy", "toy:1"}};
  x402::Shop shop(parts.engine.executor(), parts.engine, parts.clock, options);
  const Page page = page_for_sale();
  tcp::acceptor acceptor(asio::make_strand(context), {asio::ip::address_v4::loopback(), 0});

  Threads threads(context, 2);
  parts.engine.call([](Engine& engine) { return engine.start(); }, asio::use_future).get();
  auto serving = asio::co_spawn(acceptor.get_executor(), sell(acceptor, parts.engine, shop, page),
                                asio::use_future);
  wait_until_open(parts.engine);
  buy_all(acceptor.local_endpoint());

  asio::post(acceptor.get_executor(), [&acceptor] { acceptor.close(); });
  serving.get();
  asio::post(parts.engine.executor(), [&shop] { shop.stop(); });
  parts.engine.call([](Engine& engine) { return engine.drain(patience_ms); }, asio::use_future)
      .get();
  threads.finish();

  const hf::U256 sold = *cost.times(3);
  require(parts.chain.token_balance(seller) == sold, "the seller holds another amount");
  require(parts.chain.token_balance(buyer) == *purse.minus(sold), "the buyer holds another amount");
  std::printf("3 pages sold, each paid once\n");
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shop_server: %s\n", error.what());
    return 1;
  }
}
