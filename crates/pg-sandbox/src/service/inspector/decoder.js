// Decodes with the package for JavaScript, in this page. The form is the one that the sandbox answers where no script
// runs; the key is one that a sandbox shows anyway. A shop's page never holds its key.
import { decodeRedirect } from "/_sandbox/pages/decoder/web.js";

const form = document.querySelector("main form");
const said = document.getElementById("said");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { address, data, iv, merchant } = Object.fromEntries(new FormData(form));
  // A space at either end may be a plus sign that a query string has lost, or may have come along when it was copied.
  const query = (text) => `?${new URLSearchParams({ data: text, iv: iv.trim() })}`;
  const spellings = address.trim() ? [address, address.trim()] : [query(data), query(data.trim())];
  const merchants = await (await fetch("/_sandbox/merchants")).json();
  const apiKey = merchants.find(({ name }) => name === merchant)?.apiKey;
  // The credentials of other accounts are not shown; the sandbox has them.
  if (!apiKey) return form.submit();
  const results = spellings.map((url) => decodeRedirect(url.replace(/^[\r\n]+|[\r\n]+$/g, ""), { apiKey }));
  const decoded = results.find(({ error }) => error?.kind !== "unreadable") ?? results[0];
  if (decoded.error?.kind === "unreadable") show("alert", "This cannot be decrypted. Why, is not said.");
  else show("warning", "This data is not authenticated: everyone who has seen the URL may have altered it.", decoded);
});

function show(kind, sentence, decoded) {
  const paragraph = element("p", sentence);
  paragraph.className = kind;
  if (kind === "alert") paragraph.role = "alert";
  const section = element("section");
  section.append(element("h2", "Content"), paragraph);
  if (decoded) {
    const lines = element("pre", masked(JSON.stringify(decoded, named, 2)));
    lines.tabIndex = 0;
    section.append(lines);
  }
  said.replaceChildren(section);
}

function element(name, text = "") {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

/** Of what the documents do not know only the names are shown. */
const named = (name, value) => (name === "extra" ? Object.keys(value) : value);

/** What looks like a card number where none belongs, as everywhere in the inspector. */
function masked(text) {
  return text.replace(/\d(?:[ -]?\d){11,18}/g, (number) => {
    const digits = number.replace(/[ -]/g, "");
    return digits.slice(0, 6) + "*".repeat(digits.length - 10) + digits.slice(-4);
  });
}
