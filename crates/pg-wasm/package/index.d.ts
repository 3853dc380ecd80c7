/** What the documents of the service leave open. The defaults are those of the sandbox and of every part of this project. */
export interface Choices {
  /**
   * How the API key becomes the AES-256 key: its 32 bytes as they are, their SHA-256, or 64 hexadecimal digits.
   * @default "verbatim"
   */
  keyDerivation?: "verbatim" | "sha256" | "hex";
  /**
   * How `iv` is spelt: 16 characters as they are, 32 hexadecimal digits, or whichever of the two it is.
   * @default "detect"
   */
  ivFormat?: "detect" | "text" | "hex";
  /**
   * How `data` is spelt: standard or URL-safe Base64 with or without padding, hexadecimal, or whichever it is.
   * @default "detect"
   */
  textEncoding?: "detect" | "base64" | "base64url" | "hex";
  /**
   * How the last block is filled.
   * @default "pkcs7"
   */
  padding?: "pkcs7" | "zero" | "none";
}

export interface Options extends Choices {
  /**
   * The merchant's API key. It opens the account: it belongs on a server, never in a customer's browser.
   * The caller can overwrite bytes, but not a string.
   */
  apiKey: string | Uint8Array;
}

/** What the documents of the service do not know. Scalars are texts. */
export type Unknown = string | Unknown[] | { [name: string]: Unknown };

/**
 * What the customer entered, masked. It is encrypted, not authenticated: everyone who has seen the
 * address may have altered it. Good for a review page, never proof of a card or of a payment.
 */
export interface RedirectData {
  cardholderName: string;
  /** The first six and the last four digits, `*` in between. */
  cardNumber: string;
  cardExpiryMonth: string;
  cardExpiryYear: string;
  /** Always empty. */
  cardCV2: string;
  /** Inputs of the form whose names begin with `collect`. */
  [name: `collect${string}`]: string;
  /** What the documents do not know, or know in another shape. */
  extra: { [name: string]: Unknown };
}

/** What is wrong with one field of the form. */
export interface FieldError {
  errorCode: string;
  traceCode: string;
  errorMessage: string;
  extra: { [name: string]: Unknown };
}

/** The form could not be processed. */
export interface ServiceError {
  kind: "service";
  errorCode: string;
  traceCode: string;
  errorMessage: string;
}

/** No redirect, wrong key, wrong iv, damaged data: which, is not said. */
export interface Unreadable {
  kind: "unreadable";
  message: string;
}

/** Everything was valid. */
export interface Accepted {
  ok: RedirectData;
  formId: string;
  errors?: undefined;
  error?: undefined;
}

/** Fields are invalid; the form is to be shown again. */
export interface Invalid {
  ok?: undefined;
  errors: { [field: string]: FieldError };
  data: RedirectData;
  formId: string;
  error?: undefined;
}

/** The service's error, or one and the same for everything that cannot be read. */
export interface Failed {
  ok?: undefined;
  errors?: undefined;
  error: ServiceError | Unreadable;
  formId?: string;
}

export type Decoded = Accepted | Invalid | Failed;

/**
 * Decodes the address to which the card form sent the customer's browser back.
 *
 * @param url The whole address, or its query.
 * @throws {TypeError} When `url` is neither text nor a URL nor parameters, when an option is wrong, or when the API key has
 * not the form that its derivation needs. Nothing that an address can hold makes it throw.
 */
export function decodeRedirect(url: string | URL | URLSearchParams, options: Options): Decoded;
