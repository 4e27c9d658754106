// Owns: the typed data a wallet is shown, in JSON: the only source of the codec that knows JSON.
#include <initializer_list>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "evm/eip3009.hpp"
#include "evm/permit2.hpp"

namespace holdfast::evm {
namespace {

namespace json = boost::json;

json::array members(std::initializer_list<std::pair<const char*, const char*>> list) {
  json::array out;
  for (const auto& [name, type] : list) out.push_back({{"name", name}, {"type", type}});
  return out;
}

}  // namespace

json::object typed_data_json(const Domain& domain, const TransferAuthorization& authorization) {
  json::object types;
  types["EIP712Domain"] = members({{"name", "string"},
                                   {"version", "string"},
                                   {"chainId", "uint256"},
                                   {"verifyingContract", "address"}});
  types["TransferWithAuthorization"] = members({{"from", "address"},
                                                {"to", "address"},
                                                {"value", "uint256"},
                                                {"validAfter", "uint256"},
                                                {"validBefore", "uint256"},
                                                {"nonce", "bytes32"}});
  json::object domain_json;
  domain_json["name"] = domain.name;
  domain_json["version"] = domain.version;
  domain_json["chainId"] = domain.chain_id;
  domain_json["verifyingContract"] = to_checksum(domain.verifying_contract);

  json::object message;
  message["from"] = to_checksum(authorization.from);
  message["to"] = to_checksum(authorization.to);
  message["value"] = authorization.value.decimal();
  message["validAfter"] = authorization.valid_after.decimal();
  message["validBefore"] = authorization.valid_before.decimal();
  message["nonce"] = authorization.nonce.hex();

  json::object out;
  out["types"] = std::move(types);
  out["primaryType"] = "TransferWithAuthorization";
  out["domain"] = std::move(domain_json);
  out["message"] = std::move(message);
  return out;
}

json::object typed_data_json(std::uint64_t chain_id, const ExactPermit& permit) {
  json::object types;
  types["EIP712Domain"] =
      members({{"name", "string"}, {"chainId", "uint256"}, {"verifyingContract", "address"}});
  types["PermitWitnessTransferFrom"] = members({{"permitted", "TokenPermissions"},
                                                {"spender", "address"},
                                                {"nonce", "uint256"},
                                                {"deadline", "uint256"},
                                                {"witness", "Witness"}});
  types["TokenPermissions"] = members({{"token", "address"}, {"amount", "uint256"}});
  types["Witness"] = members({{"to", "address"}, {"validAfter", "uint256"}});
  json::object message;
  message["permitted"] =
      json::object{{"token", to_checksum(permit.token)}, {"amount", permit.amount.decimal()}};
  message["spender"] = to_checksum(exact_proxy_address);
  message["nonce"] = permit.nonce.decimal();
  message["deadline"] = permit.deadline.decimal();
  message["witness"] =
      json::object{{"to", to_checksum(permit.to)}, {"validAfter", permit.valid_after.decimal()}};
  json::object out;
  out["types"] = std::move(types);
  out["primaryType"] = "PermitWitnessTransferFrom";
  out["domain"] = json::object{{"name", "Permit2"},
                               {"chainId", chain_id},
                               {"verifyingContract", to_checksum(permit2_address)}};
  out["message"] = std::move(message);
  return out;
}

}  // namespace holdfast::evm
