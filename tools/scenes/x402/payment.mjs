// A payment as @x402/fetch makes it (version 2, EIP-3009), with the requirements it answers, as
// the body of POST /verify and POST /settle.
import { randomBytes } from "node:crypto";
import { authorizationTypes } from "@x402/evm";

/** `payer`: a viem account; `asset`: { address, name, version }; `amount`: a decimal text. */
export async function signPayment({ payer, chainId, asset, payTo, amount, validSeconds = 7200 }) {
  const authorization = {
    from: payer.address,
    to: payTo,
    value: amount,
    validAfter: "0",
    validBefore: String(Math.floor(Date.now() / 1000) + validSeconds),
    nonce: `0x${randomBytes(32).toString("hex")}`,
  };
  const { address, name, version } = asset;
  const signature = await payer.signTypedData({
    domain: { name, version, chainId, verifyingContract: address },
    types: authorizationTypes,
    primaryType: "TransferWithAuthorization",
    message: authorization,
  });
  const accepted = {
    scheme: "exact",
    network: `eip155:${chainId}`,
    amount,
    asset: address,
    payTo,
    maxTimeoutSeconds: 300,
    extra: { name, version },
  };
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted, payload: { authorization, signature } },
    paymentRequirements: accepted,
  };
}
