import { sleep, type Clock } from "@tandem/protocol";
import type { Records, StoredRecord } from "@tandem/storage";
import { z } from "zod";
import { tryWrite } from "../../host/until-written.ts";
import type { ReadCredential, VaultReader } from "../vault-reader.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";
import { requestTokens, type OAuthClient, type TokenAnswer, type Tokens } from "./request-tokens.ts";

const SPACE = "tandem";
const KIND = "vault_refresh";
/** A token that expires within this time is refreshed before it is used. */
const MARGIN_MS = 30_000;
/** Longer than a request to a token endpoint takes at most, with room for clocks that differ. */
const LEASE_MS = 60_000;
/** A holder that was suspended must not send a request for which its lease may be too old. */
const MIN_LEFT_MS = 30_000;
/** After a failure, the same tokens are not tried again for this time. */
const PAUSE_MS = 60_000;
const POLL_MS = 100;
const WAIT_MS = 90_000;
const WRITE_ATTEMPTS = 5;

const refreshState = z.discriminatedUnion("state", [
  z.object({ state: z.literal("running"), until: z.number() }),
  z.object({ state: z.literal("done") }),
  /** `version`: of the credential after the failure. */
  z.object({ state: z.literal("failed"), version: z.number(), at: z.number() }),
]);
type RefreshState = z.infer<typeof refreshState>;

export type OAuthCredential = ReadCredential & { auth: Extract<ReadCredential["auth"], { type: "mcp_oauth" }> };

type OAuthRefresh = NonNullable<OAuthCredential["auth"]["refresh"]>;

export type RefreshedToken =
  | { type: "token"; token: string; refreshed: boolean }
  /** It expires soon or was refused, and cannot be refreshed. */
  | { type: "no_refresh_token"; token: string }
  /** `answer` is undefined if another attempt failed shortly before. */
  | { type: "failed"; token: string; answer: Exclude<TokenAnswer, { type: "granted" }> | undefined }
  /** Archived or deleted meanwhile. */
  | { type: "gone" };

interface RefresherDependencies {
  reader: VaultReader;
  records: Records;
  clock: Clock;
  send: GuardedFetch;
}

/**
 * Refreshes access tokens. A refresh token often works once, so that two requests with it would lose the credential: a process
 * takes a lease in the store before it asks the token endpoint, and the others wait for its result. If the holder dies, its
 * lease expires.
 */
export class TokenRefresher {
  readonly #dependencies: RefresherDependencies;

  constructor(dependencies: RefresherDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * A token to send. `refused`: the one that the server did not accept; it is refreshed even if it has not expired. `bypassPause`
   * tries again even if an attempt has just failed.
   */
  async token(
    at: Pick<ReadCredential, "vaultId" | "id">,
    { refused, bypassPause = false }: { refused?: string; bypassPause?: boolean } = {},
  ): Promise<RefreshedToken> {
    const { reader, clock } = this.#dependencies;
    const end = clock.monotonic() + WAIT_MS;
    for (;;) {
      const current = await reader.credential(at);
      if (!current || !isOAuth(current)) return { type: "gone" };
      const token = await reader.open(current.auth.access_token);
      if (token !== refused && !this.#expiresSoon(current)) return { type: "token", token, refreshed: false };
      const { refresh } = current.auth;
      if (!refresh) return { type: "no_refresh_token", token };
      const lease = await this.#take(current, bypassPause);
      if (lease.type === "taken") {
        const result = await this.#refresh(current, refresh, lease);
        if (result.type === "refreshed") return { type: "token", token: result.token, refreshed: true };
        if (result.type === "failed") return { type: "failed", token, answer: result.answer };
        continue;
      }
      if (lease.type === "paused" || clock.monotonic() > end) return { type: "failed", token, answer: undefined };
      await sleep(clock, POLL_MS, { keepsProcess: true });
    }
  }

  #expiresSoon({ auth: { expires_at: at } }: OAuthCredential): boolean {
    return at !== null && Date.parse(at) - this.#dependencies.clock.now() < MARGIN_MS;
  }

  async #take({ id, version }: OAuthCredential, bypassPause: boolean): Promise<Lease | { type: "busy" | "paused" }> {
    const { records, clock } = this.#dependencies;
    const found = await records.get(SPACE, KIND, id);
    const before = found && refreshState.parse(found.value);
    const now = clock.now();
    if (before?.state === "running" && now < before.until) return { type: "busy" };
    const isPaused = before?.state === "failed" && before.version === version && Math.abs(now - before.at) < PAUSE_MS;
    if (isPaused && !bypassPause) return { type: "paused" };
    const until = now + LEASE_MS;
    const isTaken = await this.#write(id, { state: "running", until }, found);
    return isTaken ? { type: "taken", until, version: (found?.version ?? 0) + 1 } : { type: "busy" };
  }

  async #refresh(
    credential: OAuthCredential,
    refresh: OAuthRefresh,
    lease: Lease,
  ): Promise<
    | { type: "refreshed"; token: string }
    | { type: "failed"; answer: Exclude<TokenAnswer, { type: "granted" }> }
    /** Another process changed the tokens, or the lease is too old. */
    | { type: "changed" }
  > {
    const { reader, clock, send } = this.#dependencies;
    let end: RefreshState = { state: "done" };
    try {
      // Another holder may have refreshed them between our read and our lease.
      const latest = await reader.credential(credential);
      if (latest?.version !== credential.version) return { type: "changed" };
      const client = await openClient(reader, refresh);
      const grant = {
        grant_type: "refresh_token",
        refresh_token: await reader.open(refresh.refresh_token),
        ...(refresh.scope ? { scope: refresh.scope } : {}),
        ...(refresh.resource ? { resource: refresh.resource } : {}),
      };
      if (lease.until - clock.now() < MIN_LEFT_MS) return { type: "changed" };
      const answer = await requestTokens(refresh.token_endpoint, grant, { client, send, now: () => clock.now() });
      if (answer.type === "granted") {
        const isStored = await this.#store(credential, answer.tokens);
        return isStored ? { type: "refreshed", token: answer.tokens.access_token } : { type: "changed" };
      }
      await reader.refreshFailed(credential, describeFailure(answer));
      const { version } = (await reader.credential(credential)) ?? credential;
      end = { state: "failed", version, at: clock.now() };
      return { type: "failed", answer };
    } finally {
      // A lease that cannot be released expires.
      await this.#write(credential.id, end, lease).catch(() => false);
    }
  }

  /** The old refresh token may not work any more, so a store that is unreachable for a moment must not lose the new one. */
  async #store(credential: OAuthCredential, tokens: Tokens): Promise<boolean> {
    const { reader, clock } = this.#dependencies;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await reader.replaceTokens(credential, tokens);
      } catch (error) {
        if (attempt === WRITE_ATTEMPTS) throw error;
        await sleep(clock, POLL_MS * 2 ** attempt, { keepsProcess: true });
      }
    }
  }

  /** Never deleted: with a new record, versions would start again, and a holder that slept could release another's lease. */
  #write(id: string, value: RefreshState, before: Pick<StoredRecord, "version"> | undefined): Promise<boolean> {
    const version = before?.version ?? 0;
    return tryWrite(this.#dependencies.records.write(SPACE, [{ type: "put", kind: KIND, key: id, value, version }]));
  }
}

interface Lease {
  type: "taken";
  until: number;
  version: number;
}

export const isOAuth = (credential: ReadCredential): credential is OAuthCredential =>
  credential.auth.type === "mcp_oauth";

async function openClient(reader: VaultReader, refresh: OAuthRefresh): Promise<OAuthClient> {
  const { client_id: id, token_endpoint_auth: auth } = refresh;
  if (auth.type === "none") return { id, auth };
  return { id, auth: { type: auth.type, secret: await reader.open(auth.client_secret) } };
}

/** For the audit: without the answer's body. */
const describeFailure = (answer: Exclude<TokenAnswer, { type: "granted" }>): string =>
  answer.type === "refused"
    ? `The token endpoint answered ${answer.response.status_code}.`
    : `The token endpoint cannot be reached: ${answer.reason}`;
