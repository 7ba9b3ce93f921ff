import { createHash, randomBytes } from "node:crypto";
import type { PreparedLogin } from "@tandem/claude-code";
import {
  RequestError,
  type VaultCredential,
  type VaultLogin,
  type VaultLoginFinish,
  type VaultLoginParams,
  type Clock,
} from "@tandem/protocol";
import { sealedSecret, type Records, type SecretBox } from "@tandem/storage";
import { z } from "zod";
import { tryWrite } from "../../host/until-written.ts";
import { sameServer } from "../same-server.ts";
import type { Vaults } from "../vault-service.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";
import { requestTokens } from "./request-tokens.ts";

const SPACE = "tandem";
const KIND = "vault_login";
const LIFETIME_MS = 10 * 60_000;
const PAGE = 200;

const storedLogin = z.discriminatedUnion("state", [
  /** `by`: the sign-in that started it. Only this one may finish it. */
  z.object({
    state: z.literal("open"),
    vault: z.string(),
    by: z.string(),
    expires: z.number(),
    sealed: sealedSecret,
  }),
  z.object({ state: z.literal("used"), expires: z.number() }),
]);

/** Sealed, because it contains the PKCE verifier and may contain a client's secret. */
const pending = z.object({
  url: z.string(),
  redirectUri: z.string(),
  displayName: z.string().nullable(),
  issuer: z.string(),
  namesIssuer: z.boolean(),
  codeVerifier: z.string(),
  tokenEndpoint: z.string(),
  resource: z.string().nullable(),
  scope: z.string().nullable(),
  client: z.object({
    id: z.string(),
    auth: z.discriminatedUnion("type", [
      z.object({ type: z.literal("none") }),
      z.object({ type: z.enum(["client_secret_basic", "client_secret_post"]), secret: z.string() }),
    ]),
  }),
});
type PendingLogin = z.infer<typeof pending>;

interface LoginDependencies {
  vaults: Vaults;
  records: Records;
  secrets: Pick<SecretBox, "open" | "seal">;
  send: GuardedFetch;
  clock: Clock;
}

/** The sign-in that calls: its id, and its name for the audit. */
interface Caller {
  id: string;
  name: string;
}

/** OAuth logins at MCP servers, which end as a credential of a vault. */
export class OAuthLogins {
  readonly #dependencies: LoginDependencies;

  constructor(dependencies: LoginDependencies) {
    this.#dependencies = dependencies;
  }

  /** `origin`: of the page that asks; the browser may come back to it, or to a port of the person's own machine. */
  async start(params: VaultLoginParams, by: Caller, origin?: string): Promise<VaultLogin> {
    const { vaults, secrets, records, send, clock } = this.#dependencies;
    checkRedirect(params.redirect_uri, origin);
    const vault = await vaults.get(params.vault_id);
    if (vault.archived_at !== null) throw new RequestError("invalid_request", `The vault ${vault.id} is archived.`);
    await this.#prune();
    const state = randomBytes(32).toString("base64url");
    const { prepareLogin } = await import("@tandem/claude-code");
    const prepared = await prepareLogin(
      params.mcp_server_url,
      {
        redirectUri: params.redirect_uri,
        state,
        scope: params.scope,
        client: params.client_id === undefined ? undefined : { id: params.client_id, secret: params.client_secret },
      },
      send,
    ).catch((error: unknown) => {
      throw error instanceof RequestError ? error : cannotStart(error);
    });
    const expires = clock.now() + LIFETIME_MS;
    const key = keyOf(state);
    const sealed = await secrets.seal(JSON.stringify(pendingOf(params, prepared)), ownerOf(key));
    const value = { state: "open", vault: vault.id, by: by.id, expires, sealed } satisfies z.infer<typeof storedLogin>;
    await records.write(SPACE, [{ type: "put", kind: KIND, key, value, version: 0 }]);
    return {
      type: "vault_login",
      authorization_url: prepared.authorizationUrl,
      state,
      expires_at: new Date(expires).toISOString(),
    };
  }

  /** Exchanges the code and stores the credential. It replaces the vault's credential for the same server. */
  async finish({ state, code, iss }: VaultLoginFinish, by: Caller): Promise<VaultCredential> {
    const { clock, send } = this.#dependencies;
    const { vault, login } = await this.#take(state, by);
    // A code of another authorization server must not be sent to this one.
    if (iss === undefined ? login.namesIssuer : iss !== login.issuer) throw unknownState();
    const { client } = login;
    const grant = {
      grant_type: "authorization_code",
      code,
      code_verifier: login.codeVerifier,
      redirect_uri: login.redirectUri,
      ...(login.resource !== null && { resource: login.resource }),
    };
    const answer = await requestTokens(login.tokenEndpoint, grant, { client, send, now: () => clock.now() });
    if (answer.type !== "granted") {
      const why =
        answer.type === "refused"
          ? `The token endpoint answered ${answer.response.status_code}: ${answer.response.body.slice(0, 300)}`
          : `The token endpoint cannot be reached: ${answer.reason}`;
      throw new RequestError("invalid_request", `The login failed. ${why}`, { fix: "Start the login again." });
    }
    const { access_token, refresh_token, expires_at } = answer.tokens;
    const auth = {
      type: "mcp_oauth" as const,
      mcp_server_url: login.url,
      access_token,
      expires_at,
      refresh:
        refresh_token === undefined
          ? null
          : {
              client_id: client.id,
              refresh_token,
              token_endpoint: login.tokenEndpoint,
              token_endpoint_auth:
                client.auth.type === "none"
                  ? client.auth
                  : { type: client.auth.type, client_secret: client.auth.secret },
              resource: login.resource,
              scope: login.scope,
            },
    };
    await this.#archiveOld(vault, login.url, by);
    const { credentials } = this.#dependencies.vaults;
    return credentials.create(vault, { auth, display_name: login.displayName }, by.name);
  }

  /** Each state works once, in time, and for the sign-in that started it. */
  async #take(state: string, by: Caller): Promise<{ vault: string; login: PendingLogin }> {
    const { records, secrets, clock } = this.#dependencies;
    const key = keyOf(state);
    const found = await records.get(SPACE, KIND, key);
    const stored = found && storedLogin.parse(found.value);
    if (!found || stored?.state !== "open" || stored.by !== by.id || stored.expires < clock.now()) throw unknownState();
    const used = { state: "used", expires: stored.expires } satisfies z.infer<typeof storedLogin>;
    const put = { type: "put", kind: KIND, key, value: used, version: found.version } as const;
    if (!(await tryWrite(records.write(SPACE, [put])))) throw unknownState();
    const login = pending.parse(JSON.parse(await secrets.open(stored.sealed, ownerOf(key))));
    return { vault: stored.vault, login };
  }

  async #archiveOld(vault: string, url: string, by: Caller): Promise<void> {
    const { credentials } = this.#dependencies.vaults;
    const { data } = await credentials.list(vault, { limit: 100, order: "desc", includeArchived: false });
    for (const { id, auth } of data) {
      const isSame = auth.type !== "environment_variable" && sameServer(auth.mcp_server_url, url);
      if (isSame) await credentials.archive(vault, id, by.name);
    }
  }

  /** Logins that were not finished in time. */
  async #prune(): Promise<void> {
    const { records, clock } = this.#dependencies;
    const all = await records.list(SPACE, KIND, { limit: PAGE });
    const old = all.filter(({ value }) => storedLogin.parse(value).expires < clock.now());
    if (old.length === 0) return;
    await records.write(
      SPACE,
      old.map(({ key }) => ({ type: "delete", kind: KIND, key })),
    );
  }
}

const pendingOf = (params: VaultLoginParams, prepared: PreparedLogin): PendingLogin => ({
  url: params.mcp_server_url,
  redirectUri: params.redirect_uri,
  displayName: params.display_name ?? null,
  issuer: prepared.issuer,
  namesIssuer: prepared.namesIssuer,
  codeVerifier: prepared.codeVerifier,
  tokenEndpoint: prepared.tokenEndpoint,
  resource: prepared.resource,
  scope: prepared.scope,
  client: prepared.client,
});

/** The code goes there: to the page that asked, or to a program of the person on their own machine. */
function checkRedirect(uri: string, origin: string | undefined): void {
  const url = URL.parse(uri);
  const isLoopback = url?.protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
  if (url && (isLoopback || url.origin === origin)) return;
  throw new RequestError("invalid_request", "redirect_uri: expected a loopback address or the address of this page.", {
    fix: "Use http://127.0.0.1:PORT/…, or start the login on Tandem's own page.",
  });
}

const unknownState = (): RequestError =>
  new RequestError(
    "invalid_request",
    "This login is unknown, expired, already finished, or belongs to another sign-in.",
    {
      fix: "Start the login again.",
    },
  );

const cannotStart = (error: unknown): RequestError =>
  new RequestError(
    "invalid_request",
    `The login cannot start: ${error instanceof Error ? error.message : String(error)}`,
    { fix: "Check the URL of the MCP server, and that it uses OAuth." },
  );

const keyOf = (state: string): string => createHash("sha256").update(state).digest("hex");
const ownerOf = (key: string): string => `vault_login/${key}`;
