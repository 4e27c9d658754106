// The seller's side: each question goes through the facilitator of the same process.
#include <holdfast/http/x402_shop.hpp>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <holdfast/base/base64.hpp>
#include <holdfast/base/log.hpp>
#include <holdfast/base/sha256.hpp>

#include "http/long_polls.hpp"
#include "http/metrics.hpp"
#include "http/x402/facilitator.hpp"
#include "http/x402/offers.hpp"
#include "http/x402/told.hpp"

namespace holdfast::http::x402 {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

X402Options options_of(const ShopOptions& shop) {
  X402Options out;
  out.enabled = true;
  out.budget_ms = shop.budget_ms;
  out.networks = shop.networks;
  return out;
}

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  const json::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string() : std::string(*text);
}

HeaderLine header_of(int version, std::string_view body) {
  return {version == 1 ? "X-PAYMENT-RESPONSE" : "PAYMENT-RESPONSE", to_base64(as_bytes(body))};
}

/// A settle answer is what the buyer is told, byte for byte.
Sale sale_of(int version, const Response& response) {
  const json::value body = json::parse(response.body);
  const json::object& told = body.as_object();
  Sale out;
  out.reason = text_in(told, "errorReason");
  out.transaction = text_in(told, "transaction");
  out.payer = text_in(told, "payer");
  out.header = header_of(version, response.body);
  out.success_of = response.success_of;
  const bool is_open = response.status >= 500 || out.reason == to_text(Reason::settlement_pending);
  if (told.at("success").as_bool()) {
    out.end = Sale::End::paid;
  } else if (is_open) {
    out.end = Sale::End::open;
  }
  return out;
}

/// A verify answer, told as if it were a settlement's.
Sale checked(const Echo& echo, const Response& response) {
  const json::value body = json::parse(response.body);
  const json::object& told = body.as_object();
  Sale out;
  out.reason = text_in(told, "invalidReason");
  out.payer = text_in(told, "payer");
  if (told.at("isValid").as_bool()) {
    out.end = Sale::End::paid;
    return out;
  }
  if (response.status >= 500) out.end = Sale::End::open;
  json::object header;
  header["success"] = false;
  header["errorReason"] = out.reason;
  header["transaction"] = "";
  header["network"] = echo.network;
  if (!out.payer.empty()) header["payer"] = out.payer;
  out.header = header_of(echo.version, json::serialize(header));
  return out;
}

Sale unread(const Opened& opened) {
  Answer answer;
  answer.reason = opened.reason;
  answer.message = opened.message;
  return sale_of(opened.echo.version, response_of(opened.echo, answer));
}

/// A payment's own identifier brings its success back for the same thing only.
std::string key_of(const std::string& payment_id, const Offer& offer) {
  if (payment_id.empty()) return {};
  const Digest thing = FieldHash("holdfast/x402-offer/1").add(offer.url).finish();
  return payment_id + "/" + to_hex(thing);
}

}  // namespace

class Shop::Core {
 public:
  Core(asio::any_io_executor executor, engine::Engine& engine, ports::Clock& clock,
       ShopOptions options)
      : options_(options_of(options)),
        caller_(std::move(options.caller)),
        engine_(engine),
        clock_(clock),
        polls_(std::move(executor), engine),
        facilitator_(engine, clock, polls_, metrics_, options_) {}

  Demand demand(const Offer& offer, std::string_view error) const {
    return demand_of(offer, error, options_);
  }

  asio::awaitable<Sale> ask(Asked asked, Offer offer, std::string header) {
    Opened opened = open_payment(offer, header, options_, networks_of(engine_.chains()));
    if (opened.reason != Reason::none) co_return unread(opened);
    Ask ask;
    ask.body = std::move(opened.body);
    ask.asker.name = caller_;
    ask.asker.scopes = {"x402"};
    ask.idempotency_key = key_of(opened.payment_id, offer);
    ask.since_ms = clock_.mono_ms();
    Response response;
    try {
      if (asked == Asked::verify) {
        co_return checked(opened.echo, co_await facilitator_.verify(std::move(ask)));
      }
      co_return sale_of(opened.echo.version, co_await facilitator_.settle(std::move(ask)));
    } catch (const store::StoreUnavailable&) {
      response = trouble(asked);
    } catch (const store::StoreBusy&) {
      response = trouble(asked);
    } catch (const store::StoreInDoubt&) {
      response = trouble(asked);
    }
    co_return asked == Asked::verify ? checked(opened.echo, response)
                                     : sale_of(opened.echo.version, response);
  }

  asio::awaitable<void> delivered(domain::IntentId id, bool written) {
    return told(engine_, id, written);
  }
  void stop() { polls_.stop(); }

 private:
  Response trouble(Asked asked) {
    return facilitator_.refuse(asked, {503, "try_again", "the store cannot be used now", 1});
  }

  X402Options options_;
  std::string caller_;
  engine::Engine& engine_;
  ports::Clock& clock_;
  LongPolls polls_;
  RequestMetrics metrics_;
  Facilitator facilitator_;
};

Shop::Shop(asio::any_io_executor executor, engine::Engine& engine, ports::Clock& clock,
           ShopOptions options)
    : core_(std::make_shared<Core>(std::move(executor), engine, clock, std::move(options))) {}
Shop::~Shop() = default;

Demand Shop::demand(const Offer& offer, std::string_view error) const {
  return core_->demand(offer, error);
}
asio::awaitable<Sale> Shop::check(Offer offer, std::string header) {
  return core_->ask(Asked::verify, std::move(offer), std::move(header));
}
asio::awaitable<Sale> Shop::sell(Offer offer, std::string header) {
  return core_->ask(Asked::settle, std::move(offer), std::move(header));
}
asio::awaitable<void> Shop::delivered(Sale sale, bool written) {
  if (sale.success_of) co_await core_->delivered(*sale.success_of, written);
}
void Shop::stop() { core_->stop(); }

}  // namespace holdfast::http::x402
