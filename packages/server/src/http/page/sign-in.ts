import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import {
  RequestError,
  signInCodeParams,
  signInParams,
  systemClock,
  type Clock,
  type SignInCode,
  type SignInCodeParams,
  type SignInParams,
} from "@tandem/protocol";
import { DEFAULT_TENANT, type TokenRow, type TokenStore } from "@tandem/storage";
import { sha256 } from "../access/sha256.ts";
import { newToken } from "../access/create-token.ts";
import { readJson } from "../request/read-body.ts";
import { isPageKey, pageKeyHash } from "./page-signatures.ts";
import { WireError } from "../wire-error.ts";
import { ownCodes, type SignInCodes } from "./sign-in-codes.ts";

const LARGEST = 1_024;

/** Long enough to send a link to a phone or a colleague, too short to be found later. */
const CODE_MS = 10 * 60_000;
/** The default name of browsers. They are listed and revoked like any other token. */
const PAGE_TOKEN = "page";
/** The cookie of version 0.1.0. Its value was a token, and browsers send cookies to every port of a host. */
const OLD_COOKIE = "tandem_page";

/**
 * Signs a person in without a secret in a URL or a cookie. A link carries a one-time code behind `#`, which browsers do
 * not send to servers. The page POSTs the code with a public key, and signs its requests with the private one.
 */
export class SignIn {
  readonly #tokens: TokenStore;
  readonly #codes: SignInCodes;
  readonly #clock: Pick<Clock, "now">;

  constructor(
    tokens: TokenStore,
    { codes, clock = systemClock }: { codes?: SignInCodes | undefined; clock?: Pick<Clock, "now"> | undefined } = {},
  ) {
    this.#tokens = tokens;
    this.#codes = codes ?? ownCodes(clock);
    this.#clock = clock;
  }

  /** The code grants admin rights for this tenant, under this name in the audit log. */
  async createCode({ tenant = DEFAULT_TENANT, name }: SignInCodeParams = {}): Promise<SignInCode> {
    const code = randomBytes(24).toString("base64url");
    const until = this.#clock.now() + CODE_MS;
    await this.#codes.add(sha256(code), { until, tenant, ...(name !== undefined && { name }) });
    return { type: "sign_in_code", code, expires_at: new Date(until).toISOString() };
  }

  /** Exchanges a code for the right to sign requests with this key. The code is used up even if that fails. */
  async exchange({ code, key }: SignInParams): Promise<TokenRow> {
    const hash = pageKeyHash(key);
    // Before the code is used up: a page of an older version sends no key.
    if (hash === undefined) throw new RequestError("invalid_request", "key: expected a public key of P-256.");
    const known = await this.#codes.take(sha256(code));
    if (!known) throw refused("This link was already used or is older than 10 minutes.");
    if (known.until <= this.#clock.now()) throw refused("This link is older than 10 minutes.");
    if (known.used) throw refused("This link was already used.");
    const { name = PAGE_TOKEN, tenant } = known;
    const token = newToken({ name, tenant, scopes: ["admin"], sha256: hash }, this.#clock);
    await this.#tokens.create(token);
    return token;
  }

  /** Revokes the browser's key. Keeps a token that was sent by another header. */
  async leave(token: TokenRow): Promise<void> {
    if (isPageKey(token)) await this.#tokens.delete(token.id);
  }

  /**
   * Revokes the token in a cookie of version 0.1.0, and returns the header that removes the cookie. Undefined without
   * such a cookie, and for a cookie of a server on another port.
   */
  async retireCookie(headers: IncomingHttpHeaders): Promise<string | undefined> {
    const secret = new RegExp(`(?:^|; *)${OLD_COOKIE}=([^;]+)`).exec(headers.cookie ?? "")?.[1];
    if (secret === undefined) return undefined;
    const hash = sha256(secret);
    // A migration gave most of them this prefix, so that they are no longer valid as tokens.
    const token = (await this.#tokens.findByHash(`cookie:${hash}`)) ?? (await this.#tokens.findByHash(hash));
    if (!token) return undefined;
    await this.#tokens.delete(token.id);
    return `${OLD_COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`;
  }
}

const refused = (message: string): WireError =>
  new WireError("unauthorized", message, { fix: "Run `tandem open` for a new one." });

/** The person for whom a link is requested. */
export async function readCodeParams(incoming: IncomingMessage): Promise<SignInCodeParams> {
  const { success, data } = signInCodeParams.safeParse((await readJson(incoming, LARGEST)) ?? {});
  if (success) return data;
  throw new RequestError(
    "invalid_request",
    "This takes `tenant`, the id of one, and `name`, whose link it is (100 characters at most), and nothing else.",
  );
}

/** The body of a sign-in request. */
export async function readSignIn(incoming: IncomingMessage): Promise<SignInParams> {
  const { success, data } = signInParams.safeParse(await readJson(incoming, LARGEST));
  if (success) return data;
  throw new RequestError("invalid_request", "Expected the code of a sign-in link and the public key of a page.", {
    fix: "Reload the page.",
  });
}
