// The pages that the customer sees. All data from outside is escaped, including decoded data, which is not
// authenticated.

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text) => String(text ?? "").replace(/[&<>"']/g, (character) => ENTITIES[character]);

/** A template whose values are escaped, unless they are templates themselves or lists of them. */
function html(strings, ...values) {
  const shown = (value) => [value].flat().map((part) => (part instanceof Html ? part.text : escaped(part)));
  return new Html(strings.map((string, at) => (at ? shown(values[at - 1]).join("") : "") + string).join(""));
}

class Html {
  constructor(text) {
    this.text = text;
  }
}

const page = (heading, content, title = heading) =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head>
<body><main><h1>${heading}</h1>
${content}
</main></body></html>
`.text;

const CLOSED = "We cannot take payments at the moment";

const INPUTS = [
  ["cardNumber", "Card number", "cc-number"],
  ["cardExpiryMonth", "Month", "cc-exp-month"],
  ["cardExpiryYear", "Year", "cc-exp-year"],
  ["cardCV2", "Security code", "cc-csc"],
  ["cardholderName", "Name on the card", "cc-name"],
];

/** The inputs that are filled in again. The service masks the others, so the customer types them again. */
const REFILLED = new Set(["cardExpiryMonth", "cardExpiryYear", "cardholderName"]);

/**
 * The browser posts the form to the service, not to the shop: the shop's machines never see a card number. A screen reader
 * says each error with its input, and the first of them has the focus.
 */
export function cardPage({ action, hidden, data = {}, errors = {} }) {
  const invalid = INPUTS.map(([name]) => name).filter((name) => errors[name]);
  // Errors of fields that the customer cannot see.
  const others = Object.entries(errors).filter(([name]) => !invalid.includes(name));
  const marks = (name) =>
    invalid.includes(name)
      ? html` aria-invalid="true" aria-describedby="${name}-error"${name === invalid[0] ? html` autofocus` : ""}`
      : "";
  const said = (name) => (invalid.includes(name) ? html`<em id="${name}-error">${errors[name].errorMessage}</em>` : "");
  const input = ([name, label, autocomplete]) =>
    html`<p><label>${label} <input name="${name}" autocomplete="${autocomplete}" value="${REFILLED.has(name) ? data[name] : ""}"${marks(name)}></label>
${said(name)}</p>
`;
  const kept = ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`;
  return page(
    "Your card",
    html`${others.map(([name, error]) => html`<p>${name}: ${error.errorMessage}</p>`)}
<form method="post" action="${action}">${Object.entries(hidden).map(kept)}
${INPUTS.map(input)}<button>Review</button></form>`,
    Object.keys(errors).length > 0 ? "Error: Your card" : undefined,
  );
}

export function reviewPage({ order, formId, data }) {
  return page(
    "Review your order",
    html`<p>${order.item}: <b>£${(order.pence / 100).toFixed(2)}</b></p>
<p id="card">${data.cardNumber}, ${data.cardholderName}, ${data.cardExpiryMonth}/${data.cardExpiryYear}</p>
<form method="post" action="/pay?formId=${formId}"><button>Pay</button></form>
<p><a href="/card">Another card</a></p>`,
  );
}

/** Says only what is known. While the outcome is open, the page reloads itself and offers no other payment. */
export function orderPage({ state, why, transactionKey, reference, isLate }, isStopped) {
  if (state === "paid") {
    return page("Thank you", html`<p id="message">Paid, transaction ${transactionKey}.</p><p><a href="/card">Buy more tea</a></p>`);
  }
  if (state === "not paid") return message("Not paid", why);
  return page(
    isStopped ? CLOSED : "We do not know yet",
    html`<meta http-equiv="refresh" content="2">
<p id="message">Please do not pay again. We will find out whether the payment went through.${isLate ? ` This takes unusually long: ask us about ${reference}.` : ""}</p>`,
  );
}

/** While the service refuses the shop's requests. It offers no payment. */
export const closedPage = () => page(CLOSED, html`<p id="message">Please come back later.</p>`);

export const message = (heading, text) =>
  page(heading, html`<p id="message">${text}</p><p><a href="/card">Enter a card</a></p>`);
