// The calls of the payment service that a shop's server makes. They are signed, and never come from a browser.
import { createHash } from "node:crypto";

export class Gateway {
  /** @param {{ baseUrl: string, apiKey: string, apiPassword: string, shaKey: string }} account */
  constructor(account) {
    this.account = account;
  }

  /** A session for one customer's card, which is valid for 30 minutes. */
  async initiate(errorPageUrl) {
    const { sessionKey } = await this.#call("session/initiate", { errorPageUrl });
    return sessionKey;
  }

  /** Charges the card that the customer's browser has posted to the session. */
  pay(sessionKey, order) {
    return this.#call("transaction/authSessionKey", {
      sessionKey,
      itemName0: order.item,
      itemPrice0: String(order.pence),
      currency: "GBP",
      // Taken once by the service, so that an order that is sent twice is paid once.
      uniqueMerchantReference: order.reference,
    });
  }

  async #call(method, parameters) {
    const { baseUrl, apiKey, apiPassword, shaKey } = this.account;
    const signed = { apiKey, apiPassword, ...parameters };
    const reply = await fetch(`${baseUrl}/v3/${method}/json`, {
      method: "POST",
      body: new URLSearchParams({ ...signed, shaSignature: signature(signed, shaKey) }),
      redirect: "error",
      signal: AbortSignal.timeout(30_000),
    });
    const said = await reply.json();
    if (!reply.ok) throw new Refused(said);
    return said;
  }
}

/** The service has answered that it does not do this. */
export class Refused extends Error {
  constructor({ errorCode, errorMessage, traceCode }) {
    super(`${errorCode} ${errorMessage} (trace ${traceCode})`);
  }
}

/**
 * Parameters in the order of their names without regard to case, those without a value left out, each `name=value`
 * followed by the key.
 */
export function signature(parameters, shaKey) {
  const lower = (name) => name.toLowerCase();
  const pairs = Object.entries(parameters).filter(([, value]) => value !== "");
  pairs.sort(([a], [b]) => (lower(a) < lower(b) ? -1 : 1));
  const hash = createHash("sha512");
  for (const [name, value] of pairs) hash.update(`${name}=${value}${shaKey}`);
  return hash.digest("hex");
}
