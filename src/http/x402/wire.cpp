#include "http/x402/wire.hpp"

#include <algorithm>
#include <utility>

#include <boost/json/object.hpp>

#include "http/json_body.hpp"

namespace holdfast::http::x402 {
namespace {

namespace json = boost::json;

constexpr std::size_t shortest_payment_id = 16;
constexpr std::size_t longest_payment_id = 128;

const json::object* object_in(const json::object* object, std::string_view name) {
  const json::value* value = object == nullptr ? nullptr : object->if_contains(name);
  return value == nullptr ? nullptr : value->if_object();
}

std::string_view text_in(const json::object* object, std::string_view name) {
  const json::value* value = object == nullptr ? nullptr : object->if_contains(name);
  const json::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string_view{} : std::string_view(*text);
}

bool is_network_text(std::string_view text) {
  return !text.empty() && text.size() <= longest_network &&
         std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

std::optional<int> version_in(const json::object& object) {
  const json::value* value = object.if_contains("x402Version");
  const std::int64_t* number = value == nullptr ? nullptr : value->if_int64();
  if (number == nullptr || (*number != 1 && *number != 2)) return std::nullopt;
  return static_cast<int>(*number);
}

Echo echo_of(const json::object& body) {
  const json::object* payment = object_in(&body, "paymentPayload");
  const json::object* payload = object_in(payment, "payload");
  Echo echo;
  const auto version = payment == nullptr ? version_in(body) : version_in(*payment);
  echo.version = version.value_or(2);
  for (const std::string_view network :
       {text_in(object_in(&body, "paymentRequirements"), "network"),
        text_in(object_in(payment, "accepted"), "network"), text_in(payment, "network")}) {
    if (echo.network.empty() && is_network_text(network)) echo.network = network;
  }
  for (const std::string_view name : {"authorization", "permit2Authorization"}) {
    const std::string_view payer = text_in(object_in(payload, name), "from");
    if (echo.payer.empty() && is_address_text(payer)) echo.payer = payer;
  }
  return echo;
}

/// Collects the first problem of all the objects of a body.
class Reader {
 public:
  explicit Reader(Read& out) : out_(out) {}

  void body(const json::object& body);

 private:
  bool good() const { return out_.reason == Reason::none; }
  void refuse(Reason reason, std::string message) {
    if (!good()) return;
    out_.reason = reason;
    out_.message = std::move(message);
  }
  bool check(const Fields& fields, Reason reason) {
    if (fields.problem()) refuse(reason, fields.problem()->detail);
    return good();
  }

  bool versions(const json::object& body, const json::object& payment);
  Requirements requirements(const json::object& object, const std::string& path, Reason reason);
  void payload(const json::object& object);
  void eip3009(const json::object& object, Payload& out);
  void permit2(const json::object& object, Payload& out);
  std::int64_t time(Fields& fields, std::string_view name, const std::string& path);
  void payment_identifier(const json::object& payment);

  Read& out_;
};

void Reader::body(const json::object& body) {
  Fields fields(body, std::string());
  const json::object* payment = fields.part("paymentPayload");
  if (!check(fields, Reason::invalid_payload)) return;
  const json::object* wanted = fields.part("paymentRequirements");
  if (!check(fields, Reason::invalid_payment_requirements)) return;
  if (!versions(body, *payment)) return;

  Request& request = out_.request;
  request.requirements =
      requirements(*wanted, "paymentRequirements.", Reason::invalid_payment_requirements);
  Fields inner(*payment, "paymentPayload.");
  if (request.version == 1) {
    request.accepted.scheme = inner.word("scheme");
    request.accepted.network = inner.word("network");
  } else if (const json::object* accepted = inner.part("accepted")) {
    request.accepted = requirements(*accepted, "paymentPayload.accepted.", Reason::invalid_payload);
  }
  const json::object* signed_part = inner.part("payload");
  if (!check(inner, Reason::invalid_payload)) return;
  payload(*signed_part);
  if (request.version == 2 && good()) payment_identifier(*payment);
}

// The payload says which version it is of; the body around it says the same, or nothing.
bool Reader::versions(const json::object& body, const json::object& payment) {
  const auto version = version_in(payment);
  if (!version) {
    refuse(Reason::invalid_x402_version, "paymentPayload.x402Version: must be the number 1 or 2");
  } else if (body.contains("x402Version") && version_in(body) != version) {
    refuse(Reason::invalid_x402_version, "x402Version: must be paymentPayload.x402Version");
  }
  out_.request.version = version.value_or(2);
  return good();
}

Requirements Reader::requirements(const json::object& object, const std::string& path,
                                  Reason reason) {
  Fields fields(object, path);
  Requirements out;
  out.scheme = fields.word("scheme");
  out.network = fields.word("network");
  out.amount = fields.amount(out_.request.version == 1 ? "maxAmountRequired" : "amount");
  out.asset = fields.address("asset");
  out.pay_to = fields.address("payTo");
  const json::value* seconds = object.if_contains("maxTimeoutSeconds");
  if (seconds == nullptr || !seconds->is_number() || seconds->to_number<double>() <= 0) {
    fields.refuse("bad_field", path + "maxTimeoutSeconds: must be a number over 0");
  }
  const json::object* more = fields.part_or_none("extra");
  if (check(fields, reason) && more != nullptr) {
    Fields names(*more, path + "extra.");
    out.name = names.sentence("name", false);
    out.version = names.sentence("version", false);
    out.transfer_method = names.word_or_empty("assetTransferMethod");
    check(names, reason);
  }
  return out;
}

void Reader::payload(const json::object& object) {
  Fields fields(object, "paymentPayload.payload.");
  Payload& out = out_.request.payload;
  const json::object* transfer = fields.part_or_none("authorization");
  const json::object* permit = fields.part_or_none("permit2Authorization");
  out.authorization.signature = fields.hex("signature", longest_signature);
  if ((transfer == nullptr) == (permit == nullptr) && !fields.problem()) {
    fields.refuse("bad_field",
                  "paymentPayload.payload: must have authorization or permit2Authorization");
  }
  if (!check(fields, Reason::invalid_payload)) return;
  if (transfer != nullptr) return eip3009(*transfer, out);
  if (out_.request.version == 1) {
    return refuse(Reason::unsupported_payload_type,
                  "paymentPayload.payload: version 1 has no permit2Authorization");
  }
  permit2(*permit, out);
}

void Reader::eip3009(const json::object& object, Payload& out) {
  const std::string path = "paymentPayload.payload.authorization.";
  Fields fields(object, path);
  out.from = fields.address("from");
  out.to = fields.address("to");
  out.value = fields.amount("value");
  out.authorization.validity.after_s = time(fields, "validAfter", path);
  out.authorization.validity.before_s = time(fields, "validBefore", path);
  const Bytes nonce = fields.hex("nonce");
  const auto number = domain::Nonce::from(nonce);
  if (!number) fields.refuse("bad_field", path + "nonce: must be \"0x\" and 64 hex digits");
  if (check(fields, Reason::invalid_payload)) out.authorization.nonce = *number;
}

void Reader::permit2(const json::object& object, Payload& out) {
  const std::string path = "paymentPayload.payload.permit2Authorization.";
  out.transfer = Transfer::permit2;
  Fields fields(object, path);
  out.from = fields.address("from");
  out.spender = fields.address("spender");
  out.authorization.nonce.value = fields.whole("nonce").big_endian();
  out.authorization.validity.before_s = time(fields, "deadline", path);
  const json::object* permitted = fields.part("permitted");
  const json::object* witness = fields.part("witness");
  if (!check(fields, Reason::invalid_payload)) return;
  Fields token(*permitted, path + "permitted.");
  out.token = token.address("token");
  out.value = token.amount("amount");
  Fields seen(*witness, path + "witness.");
  out.to = seen.address("to");
  out.authorization.validity.after_s = time(seen, "validAfter", path + "witness.");
  if (check(token, Reason::invalid_payload)) check(seen, Reason::invalid_payload);
}

std::int64_t Reader::time(Fields& fields, std::string_view name, const std::string& path) {
  const auto seconds = fields.whole(name).to_u64();
  if (seconds && *seconds <= latest_time_s) return static_cast<std::int64_t>(*seconds);
  fields.refuse("bad_field",
                path + std::string(name) + ": must be at most " + std::to_string(latest_time_s));
  return 0;
}

void Reader::payment_identifier(const json::object& payment) {
  const std::string name = "payment-identifier";
  const std::string path = "paymentPayload.extensions.";
  Fields fields(payment, "paymentPayload.");
  const json::object* extensions = fields.part_or_none("extensions");
  if (!check(fields, Reason::invalid_payload) || extensions == nullptr) return;
  Fields known(*extensions, path);
  const json::object* identifier = known.part_or_none(name);
  if (!check(known, Reason::invalid_payload) || identifier == nullptr) return;
  Fields inside(*identifier, path + name + ".");
  const json::object* info = inside.part("info");
  if (!check(inside, Reason::invalid_payload)) return;
  const json::value* id = info->if_contains("id");
  const json::value* required = info->if_contains("required");
  if (id == nullptr) {
    const bool is_needed = required != nullptr && required->is_bool() && required->get_bool();
    if (is_needed) refuse(Reason::invalid_payload, path + name + ".info.id: the field is missing");
    return;
  }
  const json::string* text = id->if_string();
  const bool fits = text != nullptr && text->size() >= shortest_payment_id &&
                    text->size() <= longest_payment_id && std::ranges::all_of(*text, [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '-' || c == '_';
                    });
  if (fits) {
    out_.request.payment_id = std::string(*text);
  } else {
    refuse(Reason::invalid_payload,
           path + name + ".info.id: must be 16 to 128 of A-Z, a-z, 0-9, '-' and '_'");
  }
}

}  // namespace

Read read_body(std::string_view body) {
  Read out;
  const JsonBody json_body = read_json(body, false, most_levels);
  if (json_body.problem) {
    out.reason = Reason::invalid_payload;
    out.message = json_body.problem->detail;
    return out;
  }
  out.echo = echo_of(json_body.object);
  Reader(out).body(json_body.object);
  return out;
}

}  // namespace holdfast::http::x402
