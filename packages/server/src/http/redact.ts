/** Credentials with a recognizable format. */
const SHAPES: readonly RegExp[] = [
  /\btandem_[\w-]{20,}/g,
  /\bsk-ant-[\w-]{8,}/g,
  /\bBearer\s+[\w.~+/=-]{16,}/gi,
  // JSON web tokens, GitHub tokens, Google access tokens, AWS key ids
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g,
  /\bgh[pousr]_\w{20,}/g,
  /\bya29\.[\w-]{16,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  // The password in a URL, such as a database's.
  /(?<=\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/gi,
];

/** Redacts credentials in a text for a log or a client. */
export function redact(text: string): string {
  return SHAPES.reduce((clean, shape) => clean.replaceAll(shape, "[redacted]"), text);
}
