import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { RequestError, tenantId } from "@tandem/protocol";
import { DEFAULT_TENANT, type TokenRow, type TokenStore } from "@tandem/storage";
import { sha256 } from "../sha256.ts";
import { createToken } from "../create-token.ts";
import { readJson } from "../read-body.ts";
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
/** The name of tokens that browsers have, unless a link is somebody's; they are listed and revoked like any other. */
const PAGE_TOKEN = "page";

/**
 * How a person comes to the page without a token in any address: a code that is good once, for a minute, stands behind the
 * `#` of a link, which no browser sends anywhere; the page gives it back by a POST and gets a cookie that no script reads.
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

  /** Whoever has it is an admin of this tenant, and by this name where it is told who did something. */
  async createCode(
    { tenant = DEFAULT_TENANT, name }: CodeParams = {},
    now: number = Date.now(),
  ): Promise<{ code: string; expiresAt: string }> {
    const code = randomBytes(24).toString("base64url");
    await this.#codes.add(sha256(code), { until: now + CODE_MS, tenant, ...(name !== undefined && { name }) });
    return { code, expiresAt: new Date(now + CODE_MS).toISOString() };
  }

  /** The cookie for a code. A code is dead after its use, whatever comes of it. */
  async exchange(code: string, now = Date.now()): Promise<{ cookie: string; token: TokenRow }> {
    const known = await this.#codes.take(sha256(code));
    if (!known || known.until <= now) {
      throw new WireError("unauthorized", "This link is not valid any more.", {
        fix: "Run `tandem open` for a new one.",
      });
    }
    const { secret, token } = await createToken(this.#tokens, {
      ...{ name: known.name ?? PAGE_TOKEN, scopes: ["admin"] },
      tenant: known.tenant,
    });
    return { cookie: this.#cookie(secret, COOKIE_SECONDS), token };
  }

  /** Takes the browser's token away, and the cookie. Who has come with another token keeps that. */
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
 * The token of the page's cookie. A browser adds the cookie by itself, so that more is wanted than that it is there: what
 * changes something must say that it comes from the page itself, which no other page can make a browser say.
 */
export function cookieSecret(headers: IncomingHttpHeaders, method: string): string | undefined {
  const found = (headers.cookie ?? "").split(/; */).find((pair) => pair.startsWith(`${COOKIE}=`));
  const secret = found?.slice(COOKIE.length + 1);
  if (!secret) return undefined;
  const site = headers["sec-fetch-site"];
  const isOwn = site === "same-origin" || (site === undefined && headers.origin !== undefined);
  return method === "GET" || isOwn ? secret : undefined;
}

/** Whom a link is asked for. */
export async function readCodeParams(incoming: IncomingMessage): Promise<CodeParams> {
  const { success, data } = codeParams.safeParse((await readJson(incoming, LARGEST)) ?? {});
  if (success) return data;
  throw new RequestError(
    "invalid_request",
    "This takes `tenant`, the id of one, and `name`, whose link it is (100 characters at most), and nothing else.",
  );
}

/** The code of a request to sign in. */
export async function readCode(incoming: IncomingMessage): Promise<string> {
  const { success, data } = signInParams.safeParse(await readJson(incoming, LARGEST));
  if (success) return data.code;
  throw new RequestError("invalid_request", "code: expected the code of a sign-in link.");
}
