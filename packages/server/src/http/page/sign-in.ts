import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { RequestError, tenantId } from "@tandem/protocol";
import { DEFAULT_TENANT, type TokenRow, type TokenStore } from "@tandem/storage";
import { sha256 } from "../access/sha256.ts";
import { createToken } from "../access/create-token.ts";
import { readJson } from "../request/read-body.ts";
import { z } from "zod";
import { WireError } from "../wire-error.ts";
import { ownCodes, type SignInCodes } from "./sign-in-codes.ts";

export const SIGN_IN_PATH = "/v1/sign_in";
export const SIGN_OUT_PATH = "/v1/sign_out";
export const CODES_PATH = "/v1/sign_in/codes";

const signInParams = z.strictObject({ code: z.string().min(1).max(200) });
const codeParams = z.strictObject({ tenant: tenantId.optional(), name: z.string().trim().min(1).max(100).optional() });
export type CodeParams = z.infer<typeof codeParams>;
const LARGEST = 1_024;

/** Long enough to click, too short to be found later. */
const CODE_MS = 60_000;
const COOKIE = "tandem_page";
const COOKIE_SECONDS = 30 * 24 * 60 * 60;
/** The default name of browser tokens. They are listed and revoked like any other token. */
const PAGE_TOKEN = "page";

/**
 * Signs a person in without a token in a URL. A link carries a one-time code behind `#`, which browsers do not send to
 * servers. The page POSTs the code and gets an HttpOnly cookie.
 */
export class SignIn {
  readonly #tokens: TokenStore;
  readonly #isSecure: boolean;
  readonly #codes: SignInCodes;

  constructor(tokens: TokenStore, isSecure: boolean, codes: SignInCodes = ownCodes()) {
    this.#tokens = tokens;
    this.#codes = codes;
    this.#isSecure = isSecure;
  }

  /** The code grants admin rights for this tenant, under this name in the audit log. */
  async createCode(
    { tenant = DEFAULT_TENANT, name }: CodeParams = {},
    now: number = Date.now(),
  ): Promise<{ code: string; expiresAt: string }> {
    const code = randomBytes(24).toString("base64url");
    await this.#codes.add(sha256(code), { until: now + CODE_MS, tenant, ...(name !== undefined && { name }) });
    return { code, expiresAt: new Date(now + CODE_MS).toISOString() };
  }

  /** Exchanges a code for a cookie. The code is used up even if the exchange fails. */
  async exchange(code: string, now = Date.now()): Promise<{ cookie: string; token: TokenRow }> {
    const known = await this.#codes.take(sha256(code));
    if (!known || known.until <= now) {
      throw new WireError("unauthorized", "This link is not valid any more.", {
        fix: "Run `tandem open` for a new one.",
      });
    }
    const { secret, token } = await createToken(this.#tokens, {
      name: known.name ?? PAGE_TOKEN,
      scopes: ["admin"],
      tenant: known.tenant,
    });
    return { cookie: this.#cookie(secret, COOKIE_SECONDS), token };
  }

  /** Revokes the browser's token and clears the cookie. Keeps a token that was sent by another header. */
  async leave(token: TokenRow, headers: IncomingHttpHeaders): Promise<string> {
    const secret = cookieSecret(headers, "POST");
    if (secret !== undefined && sha256(secret) === token.sha256) await this.#tokens.delete(token.id);
    return this.#cookie("", 0);
  }

  #cookie(value: string, seconds: number): string {
    const secure = this.#isSecure ? "; Secure" : "";
    return `${COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`;
  }
}

/**
 * The token in the page's cookie. Browsers attach cookies by themselves, so a request that writes must also prove that
 * it comes from the page (CSRF): other pages cannot set that header.
 */
export function cookieSecret(headers: IncomingHttpHeaders, method: string): string | undefined {
  const found = (headers.cookie ?? "").split(/; */).find((pair) => pair.startsWith(`${COOKIE}=`));
  const secret = found?.slice(COOKIE.length + 1);
  if (!secret) return undefined;
  const site = headers["sec-fetch-site"];
  const isOwn = site === "same-origin" || (site === undefined && headers.origin !== undefined);
  return method === "GET" || isOwn ? secret : undefined;
}

/** The person for whom a link is requested. */
export async function readCodeParams(incoming: IncomingMessage): Promise<CodeParams> {
  const { success, data } = codeParams.safeParse((await readJson(incoming, LARGEST)) ?? {});
  if (success) return data;
  throw new RequestError(
    "invalid_request",
    "This takes `tenant`, the id of one, and `name`, whose link it is (100 characters at most), and nothing else.",
  );
}

/** The code in a sign-in request. */
export async function readCode(incoming: IncomingMessage): Promise<string> {
  const { success, data } = signInParams.safeParse(await readJson(incoming, LARGEST));
  if (success) return data.code;
  throw new RequestError("invalid_request", "code: expected the code of a sign-in link.");
}
