/**
 * The header by which the page signs a request: public key, time, nonce, body and signature, separated by dots. Cookies
 * would also be sent to every other port of the host.
 */
export const PAGE_SIGNATURE_HEADER = "tandem-page";
/** On a refusal of a signature whose time is wrong: the server's time in milliseconds. The page then signs again. */
export const PAGE_TIME_HEADER = "tandem-page-time";
/** In place of the body's hash. The browser encodes a form itself, so the page does not know its bytes. */
export const FORM_BODY = "form";

/** The parts of a request that its signature covers. */
export interface PageSigned {
  method: string;
  /** Path and query, as sent. */
  target: string;
  /** Milliseconds, by the server's clock. */
  time: number;
  nonce: string;
  /** The SHA-256 of the body as base64url, `FORM_BODY`, or nothing without a body. */
  body: string;
}

/** The text to sign. No part can contain a line break. */
export const pageSignatureText = ({ method, target, time, nonce, body }: PageSigned): string =>
  ["tandem-page", method, target, time, nonce, body].join("\n");
