// A customer with @x402/fetch, unmodified: versions 1 and 2, an ordinary account or a contract
// wallet, EIP-3009 or Permit2 as the shop asks.
import { decodePaymentRequiredHeader } from "@x402/core/http";
import {
  decodePaymentResponseHeader, wrapFetchWithPayment, x402Client, x402HTTPClient,
} from "@x402/fetch";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { ExactEvmSchemeV1 } from "@x402/evm/v1";

/** `signer`: { address, signTypedData }. */
export function buyer(signer, { network, networkV1 }) {
  const payments = [];
  const client = x402Client.fromConfig({
    schemes: [
      { network, client: new ExactEvmScheme(signer) },
      { network: networkV1, client: new ExactEvmSchemeV1(signer), x402Version: 1 },
    ],
    spendControls: false,  // the token is not one of the few that npm knows
  });
  client.onAfterPaymentCreation(async ({ paymentPayload }) => {
    payments.push(paymentPayload);
  });
  const pay = wrapFetchWithPayment(fetch, client);
  const http = new x402HTTPClient(client);

  return {
    address: signer.address,
    payments,  // every payload that was ever signed, the newest last
    buy: async (url) => read(await pay(url)),
    /** Presents a payment that was signed before. */
    present: async (url, payment) =>
      read(await fetch(url, { headers: http.encodePaymentSignatureHeader(payment) })),
  };
}

/** { status, body, settled, reason }: what the shop answered, the settlement it told of, and why
 * it said no. */
async function read(answer) {
  const challenge = answer.headers.get("PAYMENT-REQUIRED");
  const header =
    answer.headers.get("PAYMENT-RESPONSE") ?? answer.headers.get("X-PAYMENT-RESPONSE");
  const text = await answer.text();
  let body = text;
  try {
    body = JSON.parse(text);
  } catch {
    // Told as it is.
  }
  const settled = header ? decodePaymentResponseHeader(header) : null;
  const reason = settled?.errorReason ??
    (challenge ? decodePaymentRequiredHeader(challenge).error : body?.error);
  return { status: answer.status, body, settled, reason };
}

/** The owner of tools/contracts/TestWallet.sol signs for it: one byte in front, as that wallet has
 * it, so that no ordinary account's signature passes for one of its own. */
export const walletSigner = (address, owner) => ({
  address,
  signTypedData: async (data) => `0x77${(await owner.signTypedData(data)).slice(2)}`,
});
