// A program of the package's user: TypeScript has to accept all of it.
import { type Choices, type Decoded, type Options, decodeRedirect } from "pg-wasm";
import { decoder } from "pg-wasm/decoder";
import { decodeRedirect as inlined } from "pg-wasm/inline";
import { decodeRedirect as inNode } from "pg-wasm/node";
import compiled from "pg-wasm/pg_wasm.wasm";
import { decodeRedirect as onTheWeb } from "pg-wasm/web";
import { decodeRedirect as inWorkerd } from "pg-wasm/workerd";

const choices: Required<Choices> = { keyDerivation: "sha256", ivFormat: "hex", textEncoding: "base64url", padding: "none" };
const options: Options = { apiKey: new Uint8Array(32), ...choices };

export function page(url: URL): string {
  const decoded: Decoded = decodeRedirect(url, { apiKey: "key" });
  if (decoded.ok) {
    const name: string = decoded.ok.cardholderName;
    const collected: string | undefined = decoded.ok.collectNewsletter;
    return `${name} ${decoded.ok.cardNumber} ${collected} ${decoded.formId}`;
  }
  if (decoded.errors) {
    const code: string | undefined = decoded.errors.cardNumber?.errorCode;
    return `${code} ${decoded.data.cardExpiryYear}`;
  }
  return decoded.error.kind === "service" ? decoded.error.errorCode : decoded.error.message;
}

export function narrowed(text: string): string {
  const decoded = decodeRedirect(text, options);
  return "ok" in decoded && decoded.ok ? decoded.ok.cardCV2 : "";
}

export const own: typeof decodeRedirect = decoder(new WebAssembly.Module(new Uint8Array())).decodeRedirect;
export const loaded: typeof decodeRedirect = decoder(compiled).decodeRedirect;
export const every: (typeof decodeRedirect)[] = [inlined, inNode, onTheWeb, inWorkerd];
export const query: Decoded = decodeRedirect(new URLSearchParams(), options);

// And none of this.
// @ts-expect-error what is no URL
decodeRedirect(null, options);
// @ts-expect-error a request, which has one
decodeRedirect(new Request(""), options);
// @ts-expect-error the key is required
decodeRedirect("", {});
// @ts-expect-error a choice that is none
decodeRedirect("", { apiKey: "", padding: "pkcs1" });
// @ts-expect-error a choice misspelt
decodeRedirect("", { apiKey: "", ivFromat: "hex" });
// @ts-expect-error what was decoded may be an error
decodeRedirect("", { apiKey: "" }).ok.cardNumber;
