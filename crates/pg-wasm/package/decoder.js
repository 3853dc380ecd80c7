// Decodes the redirect that brings a customer's browser back from the card form.
//
// This file does no input or output: the importing file provides the compiled module. `inline.js` contains the module;
// `node.js`, `web.js` and `workerd.js` load it in the way that their hosts require.

/** The names of each choice; their positions are the numbers that the compiled module knows. */
const CHOICES = {
  keyDerivation: ["verbatim", "sha256", "hex"],
  ivFormat: ["detect", "text", "hex"],
  textEncoding: ["detect", "base64", "base64url", "hex"],
  padding: ["pkcs7", "zero", "none"],
};

/** The form that each derivation requires of a key. */
const KEY_FORMS = { verbatim: "32 bytes", sha256: "text that is not empty", hex: "64 hexadecimal digits" };

/** The compiled module refuses longer data too; here it is not even copied. */
const LONGEST_DATA = 1 << 20;

/** A longer address contains longer data, or something else. Each character of data may be written as `%XX`. */
const LONGEST_ADDRESS = 4 * LONGEST_DATA;

/** The answers of the compiled module. */
const ACCEPTED = 0;
const INVALID = 1;
const FAILED = 2;
const UNREADABLE = 3;
const KEY_PROBLEM = 4;

/**
 * A decoder over a compiled `pg_wasm.wasm`.
 *
 * @param {WebAssembly.Module} module
 */
export function decoder(module) {
  const machine = new Machine(module);
  return {
    decodeRedirect(url, options) {
      const { apiKey, choices } = checked(options);
      const { formId, data, iv } = parameters(spelt(url));
      const { answer, json } = machine.decode(apiKey, data, iv, choices);
      switch (answer) {
        case KEY_PROBLEM: {
          const derivation = options.keyDerivation ?? CHOICES.keyDerivation[0];
          throw new TypeError(`apiKey: the key derivation "${derivation}" needs ${KEY_FORMS[derivation]}`);
        }
        case UNREADABLE:
          return { error: { kind: "unreadable", message: "the redirect cannot be read" } };
        default:
          return sorted(answer, formId, JSON.parse(json));
      }
    },
  };
}

function checked(options) {
  if (options === null || typeof options !== "object") throw new TypeError("options: an object with apiKey is needed");
  const { apiKey, ...chosen } = options;
  if (typeof apiKey !== "string" && !(apiKey instanceof Uint8Array)) {
    throw new TypeError("apiKey: a string or Uint8Array is needed");
  }
  const stranger = Object.keys(chosen).find((name) => !Object.hasOwn(CHOICES, name));
  if (stranger !== undefined) throw new TypeError(`options: there is no ${stranger}`);
  const choices = Object.entries(CHOICES).map(([name, words]) => {
    const number = words.indexOf(chosen[name] ?? words[0]);
    if (number < 0) throw new TypeError(`${name}: one of ${words.join(", ")} is needed`);
    return number;
  });
  return { apiKey, choices };
}

/** Returns the address as text. A value that is not an address is the program's mistake; any text is accepted. */
function spelt(url) {
  if (typeof url === "string") return url;
  // Compares the names of the classes, since a URL of another realm is not an instance of this realm's class.
  const kind = Object.prototype.toString.call(url);
  if (kind === "[object URL]" || kind === "[object URLSearchParams]") return String(url);
  throw new TypeError("url: a string, URL or URLSearchParams is needed");
}

/** If a name occurs twice, the last one counts, since the service appends its parameters to those of the merchant's address. */
function parameters(address) {
  if (address.length > LONGEST_ADDRESS) return { formId: "", data: "", iv: "" };
  const bare = address.split("#", 1)[0];
  const query = new URLSearchParams(bare.slice(bare.indexOf("?") + 1));
  const last = (name) => query.getAll(name).at(-1) ?? "";
  return { formId: last("formId"), data: last("data"), iv: last("iv") };
}

function sorted(answer, formId, said) {
  const { errors = {}, errorCode = "", traceCode = "", errorMessage = "", extra = {}, collect = [], ...fields } = said;
  const data = { ...fields, ...collected(collect), extra };
  switch (answer) {
    case ACCEPTED:
      return { ok: data, formId };
    case INVALID:
      return { errors: mapped(errors, fault), data, formId };
    case FAILED:
      return { error: { kind: "service", errorCode, traceCode, errorMessage }, formId };
  }
}

/** Returns the inputs of a list of names and values. The values of equal names, as of check boxes, are joined by commas. */
function collected(list) {
  const inputs = {};
  for (let at = 0; at < list.length; at += 2) {
    const [name, value] = list.slice(at, at + 2);
    inputs[name] = Object.hasOwn(inputs, name) ? `${inputs[name]},${value}` : value;
  }
  return inputs;
}

const fault = ({ errorCode = "", traceCode = "", errorMessage = "", extra = {} }) => ({
  errorCode,
  traceCode,
  errorMessage,
  extra,
});

const mapped = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));

/** An instance of the compiled module. Between two calls its memory contains no data of either. */
class Machine {
  #module;
  #exports;

  constructor(module) {
    this.#module = module;
  }

  decode(key, data, iv, choices) {
    const nothing = { answer: UNREADABLE, json: "" };
    if (data.length > LONGEST_DATA) return nothing;
    this.#exports ??= new WebAssembly.Instance(this.#module).exports;
    const { memory, __stack_pointer: stack, decode_input, output, output_bytes, clear } = this.#exports;
    const stackBytes = stack.value;
    try {
      const lengths = this.#write(key, data, iv);
      const answer = decode_input(...lengths, ...choices);
      const json = new TextDecoder().decode(new Uint8Array(memory.buffer, output(), output_bytes()));
      // The compiled module overwrites the memory that it frees. Its stack, which comes first and is empty now, is
      // wiped here.
      clear();
      new Uint8Array(memory.buffer, 0, stackBytes).fill(0);
      return { answer, json };
    } catch {
      // The module has trapped, for example because memory ran out. Its state is unknown, so it is discarded.
      new Uint8Array(memory.buffer).fill(0);
      this.#exports = undefined;
      return nothing;
    }
  }

  /** Writes directly into the compiled module's memory, without a copy, and returns the lengths. */
  #write(key, data, iv) {
    const { memory, input } = this.#exports;
    // A character beyond ASCII takes several bytes. A key may contain such characters; data and iv that do are not
    // read.
    const room = 3 * key.length + data.length + iv.length;
    const start = input(room);
    let free = new Uint8Array(memory.buffer, start, room);
    return [key, data, iv].map((bytes) => {
      let length = bytes.length;
      if (typeof bytes === "string") length = new TextEncoder().encodeInto(bytes, free).written;
      else free.set(bytes);
      free = free.subarray(length);
      return length;
    });
  }
}
