/** Settings for what the documents of the service leave open. The defaults are those of the sandbox and of every part of this project. */
export interface Choices {
  /**
   * How the API key becomes the AES-256 key: its 32 bytes unchanged, the SHA-256 hash of its text, or its 64 hexadecimal digits.
   * @default "verbatim"
   */
  keyDerivation?: "verbatim" | "sha256" | "hex";
  /**
   * The form of `iv`: 16 characters, 32 hexadecimal digits, or detected.
   * @default "detect"
   */
  ivFormat?: "detect" | "text" | "hex";
  /**
   * The form of `data`: standard or URL-safe Base64 with or without padding, hexadecimal, or detected.
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
   * The merchant's API key. The key opens the account, so it belongs on a server, never in a customer's browser.
   * The caller can overwrite bytes, but not a string.
   */
  apiKey: string | Uint8Array;
}

/** The value of a field that the documents of the service do not name. Scalars are texts. */
export type Unknown = string | Unknown[] | { [name: string]: Unknown };

/**
 * What the customer entered, masked. The data is encrypted but not authenticated: anyone who has seen the
 * address may have altered it. Show it on a review page, but never take it as proof of a card or of a payment.
 */
export interface RedirectData {
  cardholderName: string;
  /** The first six and the last four digits, `*` in between. */
  cardNumber: string;
  cardExpiryMonth: string;
  cardExpiryYear: string;
  /** Always empty. */
  cardCV2: string;
  /** Inputs of the form whose names begin with `collect`. The values of inputs with equal names are joined by commas. */
  [name: `collect${string}`]: string;
  /**
   * Fields that the documents do not name, or that have another form there. A name that is repeated in a row has an array
   * of its values; elsewhere the last value of a name counts.
   */
  extra: { [name: string]: Unknown };
}

/** The error in one field of the form. */
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

/** The address is not a redirect, the key or iv is wrong, or the data is damaged. The error does not say which. */
export interface Unreadable {
  kind: "unreadable";
  message: string;
}

/** All fields were valid. */
export interface Accepted {
  ok: RedirectData;
  formId: string;
  errors?: undefined;
  error?: undefined;
}

/** Some fields are invalid. Show the form again. */
export interface Invalid {
  ok?: undefined;
  errors: { [field: string]: FieldError };
  data: RedirectData;
  formId: string;
  error?: undefined;
}

/** The error of the service, or the same error for everything that cannot be read. */
export interface Failed {
  ok?: undefined;
  errors?: undefined;
  error: ServiceError | Unreadable;
  formId?: string;
}

export type Decoded = Accepted | Invalid | Failed;

/**
 * Decodes the address to which the card form returned the customer's browser.
 *
 * @param url The whole address, or its query.
 * @throws {TypeError} If `url` is neither text nor a URL nor parameters, if an option is wrong, or if the API key does not
 * have the form that its derivation needs. No content of an address makes this function throw.
 */
export function decodeRedirect(url: string | URL | URLSearchParams, options: Options): Decoded;
