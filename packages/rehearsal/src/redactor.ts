import type { IncomingHttpHeaders } from "node:http";

/** Credentials, and the account's address, that are known by their look. */
const shapes: readonly RegExp[] = [
  /\bsk-ant-[\w-]{8,}/g,
  /\bBearer\s+[\w.~+/=-]{16,}/gi,
  // JSON web tokens, Google access tokens, GitHub tokens, AWS key ids, Vercel's gateway keys
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g,
  /\bya29\.[\w-]{16,}/g,
  /\bgh[pousr]_\w{20,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bvck_\w{16,}/g,
  // Claude Code tells the model whose account it runs on.
  /(?<=The user's email address is )\S+@\S+\b/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
];

const credentialHeaders = ["authorization", "proxy-authorization", "x-api-key", "x-goog-api-key", "cookie"] as const;
const credentialFields = /token|secret|password|assertion|api_?key|verifier|^code$/i;

/** Takes credentials out of text by their look. */
export function redactShapes(text: string): string {
  return shapes.reduce((clean, shape) => clean.replaceAll(shape, "[redacted]"), text);
}

/** Takes out also every credential that this recording has seen in a header or in a login's body, wherever it turns up. */
export class Redactor {
  readonly #secrets = new Set<string>();

  learnHeaders(headers: IncomingHttpHeaders): void {
    for (const name of credentialHeaders) {
      const value = headers[name];
      if (typeof value !== "string") continue;
      for (const part of value.split(/[\s;=,]+/)) this.#learn(part);
    }
  }

  /** Learns the values of fields that are named like credentials. */
  learnBody(body: unknown, field = ""): void {
    if (typeof body === "string" && credentialFields.test(field)) this.#learn(body);
    else if (typeof body === "string" && body.includes("=")) {
      for (const [name, value] of new URLSearchParams(body)) if (credentialFields.test(name)) this.#learn(value);
    } else if (typeof body === "object" && body !== null) {
      for (const [name, value] of Object.entries(body)) this.learnBody(value, name);
    }
  }

  redact(text: string): string {
    let clean = text;
    for (const secret of this.#secrets) clean = clean.replaceAll(secret, "[redacted]");
    return redactShapes(clean);
  }

  #learn(secret: string): void {
    // Shorter strings are words such as "Basic" and would tear holes into the text.
    if (secret.length >= 12) this.#secrets.add(secret);
  }
}
