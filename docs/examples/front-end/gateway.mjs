// The calls of the payment service that a shop's server makes. They are signed, and never come from a browser.
import { createHash } from "node:crypto";

export class Gateway {
  /** Nothing is sent before this time, and for how long after a refusal of every request, in milliseconds. */
  #notBefore = 0;
  #pause = 0;
  /** Whether the signature of the last request was refused. */
  #isDoubted = false;

  /** @param {{ baseUrl: string, apiKey: string, apiPassword: string, shaKey: string }} account */
  constructor(account) {
    this.account = account;
  }

  /** Whether the service refuses every request of this shop, so that none is sent. */
  get isStopped() {
    return Date.now() < this.#notBefore;
  }

  /** Opens a session for one customer's card. The session is valid for 30 minutes. */
  async initiate(errorPageUrl) {
    const { sessionKey } = await this.#call("session/initiate", { errorPageUrl });
    return sessionKey;
  }

  /**
   * Charges the card that the customer's browser has posted to the session of the order. `again` sends an order that is
   * open a second time, under the same reference.
   */
  async pay(order, { again = false } = {}) {
    try {
      const transaction = await this.#call("transaction/authSessionKey", {
        sessionKey: order.sessionKey,
        itemName0: order.item,
        itemPrice0: String(order.pence),
        currency: CURRENCY,
        // The service accepts each reference once, so that an order that is sent twice is paid once.
        uniqueMerchantReference: order.reference,
      });
      if (!isOf(order, transaction)) throw new Error("the reply shows another payment");
      return outcome(transaction);
    } catch (error) {
      console.error(`${order.reference}: ${error.message}`);
      return again ? refusedAgain(error) : refused(error);
    }
  }

  /**
   * What the service knows of the payment of the order; undefined if it finds nothing, which the reply must say with an empty
   * list: a proxy may answer with {}. It is open if the lookup shows a
   * payment of something else, or several: the service accepts a reference once, so none can be identified as this one.
   */
  async find(order) {
    const { transactions } = await this.#call("transaction/lookup", { uniqueMerchantReference: order.reference });
    if (typeof transactions !== "object" || transactions === null) throw new Error("the lookup has no list");
    // Lists are objects with the members "0", "1" and so on.
    const all = Object.values(transactions);
    const ours = all.filter(({ uniqueMerchantReference }) => isSame(uniqueMerchantReference, order.reference));
    if (ours.length === 0 && all.length > 0) throw new Error("the lookup lists payments of other references");
    const payments = ours.filter(({ transactionType }) => !FOLLOW_UPS.has(transactionType));
    if (payments.length === 1 && isOf(order, payments[0])) return outcome(payments[0]);
    return ours.length > 0 ? { state: "open" } : undefined;
  }

  async #call(method, parameters) {
    if (this.isStopped) throw new Stopped(this.#pause);
    // After a pause, one request finds out whether the others are accepted again.
    this.#notBefore = Date.now() + this.#pause;
    const { baseUrl, apiKey, apiPassword, shaKey } = this.account;
    const signed = { apiKey, apiPassword, ...parameters };
    const reply = await fetch(`${baseUrl}/v3/${method}/json`, {
      method: "POST",
      body: new URLSearchParams({ ...signed, shaSignature: signature(signed, shaKey) }),
      redirect: "error",
      signal: AbortSignal.timeout(30_000),
    });
    const said = parsed(await reply.text());
    const error = reply.ok ? undefined : new ServiceError(said, reply.status);
    const isInvalid = error?.code === SIGNATURE_NOT_VERIFIED;
    // The first request may have been damaged on its way. A second one in a row shows that the SHA key is wrong.
    if (isInvalid && !this.#isDoubted) error.pause = A_MOMENT;
    this.#isDoubted = isInvalid;
    this.#pause = error?.pause ?? 0;
    this.#notBefore = Date.now() + this.#pause;
    if (error) throw error;
    return said;
  }
}

const CURRENCY = "GBP";

/** Captures, cancellations and refunds belong to a payment that is listed too. */
const FOLLOW_UPS = new Set(["Capture", "CancelPreAuth", "Refund"]);

/** Reads JSON with its numbers as texts, as they are written: 499.00 is not 499. */
function parsed(text) {
  return JSON.parse(text.replace(/("(?:[^"\\]|\\.)*")|-?\d[\d.eE+-]*/g, (all, string) => string ?? `"${all}"`));
}

/** Whether a field of a transaction has this value. A field that the transaction lacks proves nothing. */
const isSame = (field, value) => [undefined, null, "", value].includes(field);

/** Whether a transaction is the payment of the order. A PreAuth under its reference reserves funds and debits nothing. */
function isOf(order, { uniqueMerchantReference, transactionType, currency, transactionValue }) {
  return (
    isSame(uniqueMerchantReference, order.reference) &&
    isSame(transactionType, "Auth") &&
    isSame(currency, CURRENCY) &&
    isSame(transactionValue, String(order.pence))
  );
}

/** An error reply of the service. */
class ServiceError extends Error {
  constructor({ errorCode, errorMessage, traceCode }, status) {
    super(`${errorCode} ${errorMessage} (trace ${traceCode})`);
    this.status = status;
    this.code = String(errorCode);
    this.words = errorMessage;
    this.pause = PAUSES.get(this.code);
  }
}

/** A request that was not sent, because the service would refuse it. */
class Stopped extends Error {
  constructor(pause) {
    super("not sent, because the service refuses every request of this shop for now");
    this.pause = pause;
  }
}

/** Connections that were never made. */
const NOT_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

/*
 * The network may deliver a request twice, and show only the reply to the second copy. The first copy may have been paid
 * before something changed that refuses the second: a lockout, a limit, a permission, replaced credentials. So a refusal
 * says "not paid" only if it holds for every copy. The sandbox's codes are marked; your operator knows which others belong
 * here.
 */

/** The reason is in the request, so that no copy is ever executed. 107, 937 and 938 are the sandbox's. */
const EVERY_COPY = new Set(["103", "104", "108", "110", "120", "107", "937", "938"]);

/**
 * No later copy is executed, but an earlier one may have been. Cards and sessions expire; 129 and 940 are the sandbox's.
 * A currency that is not enabled (111) and a session without a card (the sandbox's 956) may change, but a request that was
 * refused for them has used up its reference (spec 2 §4.3).
 */
const LATER_COPIES = new Set(["109", "136", "129", "940", "111", "956"]);

const SIGNATURE_NOT_VERIFIED = "123";

/** The pause after one invalid signature, in milliseconds. */
const A_MOMENT = 1_000;

/**
 * Refusals of every request: how long to send nothing, in milliseconds. Refused credentials and signatures count towards a
 * lockout (121, 122), so ask rarely until they are corrected. 936 is the sandbox's limit of requests.
 */
const PAUSES = new Map([
  ["102", 600_000],
  ["105", 600_000],
  [SIGNATURE_NOT_VERIFIED, 600_000],
  ["121", 60_000],
  ["122", 300_000],
  ["936", 60_000],
]);

/** What an error of the first request says about the payment. */
function refused(error) {
  if (error instanceof Stopped) return { state: "not paid", why: "We cannot take payments at the moment." };
  if (NOT_SENT.has(error.cause?.code)) return { state: "not paid", why: "The payment service could not be reached." };
  return EVERY_COPY.has(error.code) && !isLost(error) ? notPaid(error) : refusedAgain(error);
}

/**
 * The same, if the payment was sent before. If a lookup finds nothing from now on, `unlessFound` is its outcome, or it may be
 * sent again after `again` milliseconds. With neither, only lookups may follow: the reference may be used up.
 */
function refusedAgain(error) {
  if (isLost(error)) return { state: "open", again: 0 };
  if (EVERY_COPY.has(error.code) || LATER_COPIES.has(error.code)) return { state: "open", unlessFound: notPaid(error) };
  return { state: "open", again: error.pause };
}

/** Whether nothing is known of the request: no reply, an unreadable one, or a failure of the service. */
function isLost(error) {
  if (error instanceof Stopped) return false;
  return !(error instanceof ServiceError) || (error.status >= 500 && error.code !== NO_RESPONSE_FROM_BANK);
}

/** The bank may have charged. */
const NO_RESPONSE_FROM_BANK = "119";

const notPaid = ({ words }) => ({ state: "not paid", why: `${words}.` });

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
