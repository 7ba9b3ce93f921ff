import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { RequestError, type Clock } from "@tandem/protocol";
import { SCOPES, type Scope, type TokenRow, type TokenStore } from "@tandem/storage";
import type { ForwardSeal } from "./forward-seal.ts";
import { PageSignatures } from "../page/page-signatures.ts";
import { sha256 } from "./sha256.ts";
import { WireError } from "../wire-error.ts";

/** The interval for updating a token's last use. */
const TOUCH_EVERY_MS = 60_000;
/** A browser has to sign in again after that. */
const PAGE_KEY_MS = 30 * 24 * 60 * 60_000;

/** Authenticates requests. A token's rights are stored on the server only. */
export class Authorizer {
  readonly #tokens: TokenStore;
  readonly #clock: Pick<Clock, "now">;
  readonly #touched = new Map<string, number>();

  readonly #seal: ForwardSeal;
  readonly #signatures = new PageSignatures();

  constructor(tokens: TokenStore, seal: ForwardSeal, clock: Pick<Clock, "now">) {
    this.#tokens = tokens;
    this.#clock = clock;
    this.#seal = seal;
  }

  /**
   * Accepts a token, or with `allowsPage` a request that the page has signed. Rejects with the same message for every
   * reason, so that a client cannot probe tokens.
   */
  async authenticate(incoming: IncomingMessage, { allowsPage }: { allowsPage: boolean }): Promise<TokenRow> {
    const secret = secretOf(incoming.headers);
    if (secret !== undefined || !allowsPage) return this.authenticateSecret(secret);
    return this.#admit(await this.#findPage(incoming));
  }

  /** Accepts a token's secret. */
  async authenticateSecret(secret: string | undefined): Promise<TokenRow> {
    return this.#admit(secret === undefined ? undefined : await this.#find(sha256(secret)));
  }

  #admit(token: TokenRow | undefined): TokenRow {
    if (!token) throw notValid();
    this.#touch(token);
    return token;
  }

  /** For streams, which outlive the request that opened them. */
  async isStillValid(token: TokenRow): Promise<boolean> {
    return (await this.#find(token.sha256)) !== undefined;
  }

  async #findPage(incoming: IncomingMessage): Promise<TokenRow | undefined> {
    const sealed = await this.#seal.open(incoming);
    const signature = sealed === undefined ? this.#signatures.read(incoming) : undefined;
    const hash = sealed ?? signature?.hash;
    const token = hash === undefined ? undefined : await this.#find(hash);
    if (!token || (signature && !this.#signatures.verify(incoming, signature))) return undefined;
    if (this.#clock.now() - Date.parse(token.createdAt) < PAGE_KEY_MS) return token;
    await this.#tokens.delete(token.id);
    return undefined;
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
    const now = this.#clock.now();
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
export const hasScope = ({ scopes }: Pick<TokenRow, "scopes">, wanted: Scope): boolean =>
  Math.max(-1, ...scopes.map((scope) => SCOPES.indexOf(scope))) >= SCOPES.indexOf(wanted);

export function requireScope(token: TokenRow, wanted: Scope): void {
  if (hasScope(token, wanted)) return;
  throw new RequestError("forbidden", `This needs a token with the scope ${wanted}.`);
}

/** Clients send one of two headers. Both are accepted if they agree. */
export function secretOf(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  const key = headers["x-api-key"];
  if (headers.authorization !== undefined && key !== undefined) return bearer === key ? bearer : undefined;
  return bearer ?? (typeof key === "string" && key !== "" ? key : undefined);
}
