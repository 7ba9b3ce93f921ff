import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { RequestError } from "@tandem/protocol";
import { SCOPES, type Scope, type TokenRow, type TokenStore } from "@tandem/storage";
import { cookieSecret } from "../page/sign-in.ts";
import { sha256 } from "./sha256.ts";
import { WireError } from "../wire-error.ts";

/** The interval for updating a token's last use. */
const TOUCH_EVERY_MS = 60_000;

/** Authenticates requests. A token's rights are stored on the server only. */
export class Authorizer {
  readonly #tokens: TokenStore;
  readonly #touched = new Map<string, number>();

  constructor(tokens: TokenStore) {
    this.#tokens = tokens;
  }

  /** Rejects with the same message for every reason, so that a client cannot probe tokens. */
  async authenticate(headers: IncomingHttpHeaders, method: string): Promise<TokenRow> {
    const secret = secretOf(headers) ?? cookieSecret(headers, method);
    const token = secret === undefined ? undefined : await this.#find(sha256(secret));
    if (!token) throw notValid();
    this.#touch(token);
    return token;
  }

  /** For streams, which outlive the request that opened them. */
  async isStillValid(token: TokenRow): Promise<boolean> {
    return (await this.#find(token.sha256)) !== undefined;
  }

  async #find(hash: string): Promise<TokenRow | undefined> {
    const token = await this.#tokens.findByHash(hash).catch((cause: unknown) => {
      // Clients without a valid token must not learn why, or where the database is.
      throw new RequestError("unavailable", "Tokens cannot be checked at the moment.", {
        fix: "Try again in a moment.",
        cause,
      });
    });
    return token && timingSafeEqual(Buffer.from(token.sha256), Buffer.from(hash)) ? token : undefined;
  }

  #touch({ id }: TokenRow): void {
    const now = Date.now();
    if (now - (this.#touched.get(id) ?? 0) < TOUCH_EVERY_MS) return;
    this.#touched.set(id, now);
    this.#tokens.touch(id, new Date(now).toISOString()).catch(() => undefined);
  }
}

/** One error for every problem with a token. */
export const notValid = (): WireError =>
  new WireError("unauthorized", "A valid token is needed.", {
    fix: "Send it as `authorization: Bearer …` or `x-api-key`.",
    headers: { "www-authenticate": "Bearer" },
  });

/** `admin` includes every scope, `run` includes `read`. */
export const hasScope = ({ scopes }: TokenRow, wanted: Scope): boolean =>
  Math.max(-1, ...scopes.map((scope) => SCOPES.indexOf(scope))) >= SCOPES.indexOf(wanted);

export function requireScope(token: TokenRow, wanted: Scope): void {
  if (hasScope(token, wanted)) return;
  throw new RequestError("forbidden", `This needs a token with the scope ${wanted}.`);
}

/** Clients send one of two headers. Both are accepted if they agree. */
function secretOf(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  const key = headers["x-api-key"];
  if (headers.authorization !== undefined && key !== undefined) return bearer === key ? bearer : undefined;
  return bearer ?? (typeof key === "string" && key !== "" ? key : undefined);
}
