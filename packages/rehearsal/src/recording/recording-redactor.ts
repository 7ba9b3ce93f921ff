import type { IncomingHttpHeaders } from "node:http";

/** Patterns of credentials and of the account's address. */
const shapes: readonly RegExp[] = [
  /\bsk-ant-[\w-]{8,}/g,
  /\bBearer\s+[\w.~+/=-]{16,}/gi,
  // JSON web tokens, Google access tokens, GitHub tokens, AWS key ids, Vercel's gateway keys
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g,
  /\bya29\.[\w-]{16,}/g,
  /\bgh[pousr]_\w{20,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bvck_\w{16,}/g,
  // Claude Code tells the model the account's email address.
  /(?<=The user's email address is )\S+@\S+\b/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
];

const credentialHeaders = ["authorization", "proxy-authorization", "x-api-key", "x-goog-api-key", "cookie"] as const;
const credentialFields = /token|secret|password|assertion|api_?key|verifier|^code$/i;

/** Redacts credentials by pattern. */
export function redactShapes(text: string): string {
  return shapes.reduce((clean, shape) => clean.replaceAll(shape, "[redacted]"), text);
}

/** Also redacts every credential that this recording has seen in a header or a login's body. */
export class RecordingRedactor {
  readonly #secrets = new Set<string>();

  learnHeaders(headers: IncomingHttpHeaders): void {
    for (const name of credentialHeaders) {
      const value = headers[name];
      if (typeof value !== "string") continue;
      for (const part of value.split(/[\s;=,]+/)) this.#learn(part);
    }
  }

  /** Collects values of fields that are named like credentials. */
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
    // Shorter strings are words such as "Basic"; redacting them would damage the text.
    if (secret.length >= 12) this.#secrets.add(secret);
  }
}
