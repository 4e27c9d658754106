// A shop that takes x402, and what it gave away for which payment.
//
//   GET /eip3009/ID, /permit2/ID   version 2: the middleware of @x402/express, unmodified
//   GET /v1/ID                     version 1: that middleware reads no version 1 payments, so its
//                                  few steps are here, over npm's own HTTPFacilitatorClient
//
// A thing's price is 1000000 plus its number, so that every purchase can be told on the chain.
import { decodePaymentSignatureHeader, encodePaymentResponseHeader } from "@x402/core/http";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/express";
import express from "express";

export const priceOf = (id) => String(1_000_000 + Number(id));
const idOf = (path) => path.split("/").at(-1);

function facilitatorClient({ facilitator, key }) {
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  return new HTTPFacilitatorClient({
    url: facilitator,
    createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
  });
}

/** Routes of version 2. `asset`: { address, name, version }. */
function middleware(client, { network, payTo, asset }) {
  const accepts = (extra) => ({
    scheme: "exact",
    network,
    payTo,
    price: (context) => ({ amount: priceOf(idOf(context.path)), asset: asset.address, extra }),
  });
  const { name, version } = asset;
  return paymentMiddleware(
    {
      "GET /eip3009/*": { accepts: accepts({ name, version }), description: "a thing" },
      "GET /permit2/*": {
        accepts: accepts({ name, version, assetTransferMethod: "permit2" }),
        description: "a thing",
      },
    },
    new x402ResourceServer(client).register(network, new ExactEvmScheme()),
  );
}

/** The same for version 1: challenge, verify, settle, goods. */
function versionOne(client, { networkV1, payTo, asset }) {
  return async (request, response) => {
    const id = idOf(request.path);
    const requirements = {
      scheme: "exact",
      network: networkV1,
      maxAmountRequired: priceOf(id),
      resource: `${request.protocol}://${request.get("host")}${request.originalUrl}`,
      description: "a thing",
      mimeType: "application/json",
      payTo,
      maxTimeoutSeconds: 300,
      asset: asset.address,
      extra: { name: asset.name, version: asset.version },
    };
    const challenge = (error) =>
      response.status(402).json({ x402Version: 1, error, accepts: [requirements] });
    const header = request.get("X-PAYMENT");
    if (!header) return challenge("X-PAYMENT header is required");
    const payment = decodePaymentSignatureHeader(header);
    const verdict = await client.verify(payment, requirements);
    if (!verdict.isValid) return challenge(verdict.invalidReason);
    const settled = await client.settle(payment, requirements);
    if (!settled.success) return challenge(settled.errorReason);
    response.set("X-PAYMENT-RESPONSE", encodePaymentResponseHeader(settled));
    return response.json({ thing: id });
  };
}

/**
 * Opens it on a free port. `facilitator`: base URL; `key`: a bearer token for it, or none.
 * Answers { url, given, close }: `given` maps an id to how often the thing went out.
 */
export async function openShop(options) {
  const client = facilitatorClient(options);
  const given = new Map();
  const app = express();
  app.use((request, response, next) => {
    response.on("finish", () => {
      if (response.statusCode !== 200) return;
      const id = idOf(request.path);
      given.set(id, (given.get(id) ?? 0) + 1);
    });
    next();
  });
  app.use(middleware(client, options));
  app.get("/v1/:id", (request, response, next) => {
    versionOne(client, options)(request, response).catch(next);
  });
  app.get(["/eip3009/:id", "/permit2/:id"], (request, response) => {
    response.json({ thing: request.params.id });
  });
  // A facilitator that cannot be asked is no crash of the shop's, and no page of stack either.
  app.use((error, request, response, _next) => {
    response.status(502).json({ error: error.message });
  });
  const server = await new Promise((resolve) => {
    const opened = app.listen(0, "127.0.0.1", () => resolve(opened));
  });
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, given, close };
}
