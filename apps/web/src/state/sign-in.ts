import { createPageKey } from "@tandem/client";
import { SIGN_IN_PATH, SIGN_OUT_PATH, type SignInParams } from "@tandem/protocol";
import { StoredValue } from "../live/stored-value.ts";
import { api, ApiError, signInApi } from "../api/client.ts";
import { forgetPageKey, pageKey, setPageKey } from "../api/page-key.ts";

export type SignInState =
  | { type: "asking" }
  | { type: "in" }
  /** Signed in as before, although the link did not work. */
  | { type: "still-in"; reason: string }
  | { type: "out"; reason: string }
  | { type: "insecure" }
  | { type: "unreachable"; reason: string };

export const NOT_SIGNED_IN = "This browser is not signed in.";
export const SIGNED_OUT = "This browser was signed out. Its access was revoked or has expired.";
const OLD_COOKIE =
  "Please sign in again. An earlier version of Tandem kept your sign-in in a cookie, which other servers on this machine could read. That cookie is no longer valid.";

const STORED = "tandem.signed-in";
/**
 * When this browser signed in; 0 if it is signed out. A signed-in page renders at once, until a request returns 401.
 * Version 0.1.0 wrote `true`.
 */
export const signedInAt = new StoredValue<number | boolean>(STORED, 0);
addEventListener("storage", ({ key }) => {
  if (key === STORED) forgetPageKey();
});

export const isAssumedSignedIn = (): boolean =>
  typeof signedInAt.current === "number" && signedInAt.current > 0 && location.hash === "";

/** Exchanges the code of a sign-in link, or checks whether this browser is signed in. */
export async function signIn(): Promise<SignInState> {
  // Browsers allow cryptography over HTTPS and on this machine only.
  if (!isSecureContext) return { type: "insecure" };
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  try {
    if (code === undefined) return await check();
    // Removed from the URL, and so from the history, before it is used.
    history.replaceState(null, "", location.pathname + location.search);
    const key = await createPageKey();
    await signInApi.request("POST", SIGN_IN_PATH, { code, key: key.publicKey } satisfies SignInParams);
    await setPageKey(key);
    noteSignedIn();
    return { type: "in" };
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) {
      return { type: "unreachable", reason: error instanceof Error ? error.message : String(error) };
    }
    const reason = withoutFix(error);
    const { type } = await check().catch(() => ({ type: "out" }));
    return type === "in" ? { type: "still-in", reason } : { type: "out", reason };
  }
}

export async function signOut(): Promise<void> {
  await api.request("POST", SIGN_OUT_PATH);
  await setPageKey(undefined);
  signedInAt.set(0);
}

function noteSignedIn(): void {
  signedInAt.set(Date.now());
  // The page is rendered in the same frame.
  signedInAt.flush();
}

async function check(): Promise<SignInState> {
  if (!(await pageKey())) return { type: "out", reason: hadOldCookie() ? OLD_COOKIE : NOT_SIGNED_IN };
  try {
    await signInApi.call("sessions.list", { query: { limit: 1 } });
    noteSignedIn();
    return { type: "in" };
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return { type: "out", reason: SIGNED_OUT };
    throw error;
  }
}

/** The server has just revoked a cookie of version 0.1.0. */
const hadOldCookie = (): boolean => document.querySelector("meta[name=tandem-signed-out]") !== null;

/** The page has its own instructions. */
const withoutFix = ({ message, fix }: ApiError): string =>
  fix !== null && message.endsWith(fix) ? message.slice(0, -fix.length).trim() : message;
