// The calls of the payment service that a shop's server makes. They are signed, and never come from a browser.
import { createHash } from "node:crypto";

export class Gateway {
  /** @param {{ baseUrl: string, apiKey: string, apiPassword: string, shaKey: string }} account */
  constructor(account) {
    this.account = account;
  }

  /** Opens a session for one customer's card. The session is valid for 30 minutes. */
  async initiate(errorPageUrl) {
    const { sessionKey } = await this.#call("session/initiate", { errorPageUrl });
    return sessionKey;
  }

  /** Charges the card that the customer's browser has posted to the session. */
  async pay(sessionKey, order) {
    try {
      const transaction = await this.#call("transaction/authSessionKey", {
        sessionKey,
        itemName0: order.item,
        itemPrice0: String(order.pence),
        currency: "GBP",
        // The service accepts each reference once, so that an order that is sent twice is paid once.
        uniqueMerchantReference: order.reference,
      });
      return outcome(transaction);
    } catch (error) {
      console.error(`${order.reference}: ${error.message}`);
      if (NOT_SENT.has(error.cause?.code)) return { state: "not paid", why: "The payment service could not be reached." };
      if (NOT_PAID.has(error.code)) return { state: "not paid", why: `${error.words}.`, expired: EXPIRED.has(error.code) };
      return { state: "open" };
    }
  }

  /** Looks up the payment with this reference. If none is found, that proves nothing: the request may still arrive. */
  async find(uniqueMerchantReference) {
    const { transactions } = await this.#call("transaction/lookup", { uniqueMerchantReference });
    // Lists are objects with the members "0", "1" and so on.
    const payment = Object.values(transactions).find(({ transactionType }) => transactionType === "Auth");
    return payment ? outcome(payment) : { state: "open" };
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
    if (!reply.ok) throw new ServiceError(said);
    return said;
  }
}

/** An error reply of the service. */
class ServiceError extends Error {
  constructor({ errorCode, errorMessage, traceCode }) {
    super(`${errorCode} ${errorMessage} (trace ${traceCode})`);
    this.code = String(errorCode);
    this.words = errorMessage;
  }
}

/** Connections that were never made. */
const NOT_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

/** The session is unknown or has expired. */
const EXPIRED = new Set(["129", "136"]);

/**
 * Errors that say that nothing was sent to a bank: credentials, rights, amount, currency and session, and the sandbox's
 * codes for limits (936), parameters (937, 938) and a session without a card (956). After any other error, such as 119
 * or 125, the customer may have paid. Your operator knows which codes belong here.
 */
const NOT_PAID = new Set([
  ...["102", "105", "106", "107", "111", "120", "121", "122", "123"],
  ...EXPIRED,
  ...["936", "937", "938", "956"],
]);

/** The documents name no code of a decline. These are the sandbox's; ask your operator. */
const DECLINED = new Set(["901", "902", "903", "907"]);

/** Paid, certainly not paid, or open: every outcome that is not known to be one of the first two is open. */
function outcome({ transactionStatusCode, transactionStatus, transactionKey }) {
  const code = String(transactionStatusCode);
  if (code === "600") return { state: "paid", transactionKey };
  return DECLINED.has(code) ? { state: "not paid", why: `The bank said: ${transactionStatus}.` } : { state: "open" };
}

/**
 * Signs the parameters in the order of their names, without regard to case. Parameters without a value are left out;
 * each `name=value` is followed by the key.
 */
export function signature(parameters, shaKey) {
  const lower = (name) => name.toLowerCase();
  const pairs = Object.entries(parameters).filter(([, value]) => value !== "");
  pairs.sort(([a], [b]) => (lower(a) < lower(b) ? -1 : 1));
  const hash = createHash("sha512");
  for (const [name, value] of pairs) hash.update(`${name}=${value}${shaKey}`);
  return hash.digest("hex");
}
