import { parseJson, type CapturedResponse } from "@tandem/protocol";
import { z } from "zod";
import { externalDeadline } from "../../host/external-deadline.ts";
import { captureText, readStart } from "./captured-response.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";

const TIMEOUT_MS = 15_000;
const MAX_ANSWER = 65_536;
/** A hundred years. Dates have a limit. */
const MAX_EXPIRES_S = 3_155_760_000;
/** A secret cut at the limit would not be recognized. */
const HIDDEN = "(The answer is not shown: it may contain a token.)";

/** How a client identifies itself at a token endpoint. */
export interface OAuthClient {
  id: string;
  auth: { type: "none" } | { type: "client_secret_basic" | "client_secret_post"; secret: string };
}

export interface Tokens {
  access_token: string;
  refresh_token?: string;
  expires_at: string | null;
}

export type TokenAnswer =
  | { type: "granted"; tokens: Tokens }
  | { type: "refused"; response: CapturedResponse }
  /** `reason` has no secret. */
  | { type: "unreachable"; reason: string };

const granted = z.object({
  // A line break would make a later request fail with a message that contains the token.
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  // The grant has used up the old tokens: an odd optional field must not lose the new ones.
  refresh_token: z
    .string()
    .regex(/^[\x21-\x7e]+$/)
    .optional()
    .catch(undefined),
  expires_in: z.coerce.number().positive().max(MAX_EXPIRES_S).optional().catch(undefined),
});

/** Asks a token endpoint, once. Redirects are not followed. */
export async function requestTokens(
  endpoint: string,
  grant: Readonly<Record<string, string>>,
  { client, send, now }: { client: OAuthClient; send: GuardedFetch; now: () => number },
): Promise<TokenAnswer> {
  const form = new URLSearchParams(grant);
  const headers = new Headers({ accept: "application/json", "content-type": "application/x-www-form-urlencoded" });
  const secrets = SECRET_FIELDS.flatMap((name) => grant[name] ?? []);
  if (client.auth.type === "client_secret_basic") {
    const basic = Buffer.from(`${formEncoded(client.id)}:${formEncoded(client.auth.secret)}`).toString("base64");
    headers.set("authorization", `Basic ${basic}`);
    secrets.push(client.auth.secret, basic);
  } else {
    form.set("client_id", client.id);
    if (client.auth.type === "client_secret_post") {
      form.set("client_secret", client.auth.secret);
      secrets.push(client.auth.secret);
    }
  }
  let response: Response;
  let answer: { text: string; isWhole: boolean };
  try {
    const signal = externalDeadline(TIMEOUT_MS);
    response = await send(endpoint, { method: "POST", headers, body: form.toString(), signal });
    answer = await readStart(response, MAX_ANSWER);
  } catch (error) {
    return { type: "unreachable", reason: error instanceof Error ? error.message : String(error) };
  }
  if (!response.ok) return { type: "refused", response: captureText(response, answer, secrets) };
  const tokens = granted.safeParse(parseJson(answer.text));
  if (!tokens.success) {
    return { type: "refused", response: captureText(response, { text: HIDDEN, isWhole: false }, secrets) };
  }
  const { access_token, refresh_token, expires_in } = tokens.data;
  return {
    type: "granted",
    tokens: {
      access_token,
      ...(refresh_token !== undefined && { refresh_token }),
      expires_at: expires_in === undefined ? null : new Date(now() + expires_in * 1_000).toISOString(),
    },
  };
}

const SECRET_FIELDS = ["refresh_token", "code", "code_verifier"];

/** As RFC 6749 demands before Basic authentication. */
const formEncoded = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);
