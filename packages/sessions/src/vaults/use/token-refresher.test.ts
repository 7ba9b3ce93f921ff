import { randomBytes } from "node:crypto";
import type { AuditNote, CredentialCreateParams } from "@tandem/protocol";
import { OAuthMcpServer } from "@tandem/rehearsal";
import { SecretBox, type Store } from "@tandem/storage";
import { scratchStore } from "@tandem/storage/testing/scratch-store";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MovableClock } from "../../host/movable-clock.ts";
import { createVaults } from "../create-vaults.ts";

type Refresh = NonNullable<Extract<CredentialCreateParams["auth"], { type: "mcp_oauth" }>["refresh"]>;

let store: Store;
let clock: MovableClock;
let server: OAuthMcpServer;
let notes: AuditNote[];
beforeEach(async () => {
  store = await scratchStore();
  clock = new MovableClock();
  server = await OAuthMcpServer.start();
  notes = [];
});
afterEach(() => server[Symbol.asyncDispose]());

const KEY = randomBytes(32);

/** One process of a fleet on the same database. */
const openProcess = (publicOnly = false) =>
  createVaults({
    records: store.records,
    secrets: new SecretBox(async () => KEY),
    note: async (note) => void notes.push(note),
    log: { warn: () => {} },
    clock,
    publicOnly,
  });

async function addCredential(refresh: Partial<Refresh> | null = {}, expiresIn = 3_600) {
  const { vaults } = openProcess();
  const vault = await vaults.create({ display_name: "work" });
  const { access_token, refresh_token } = server.issue();
  const credential = await vaults.credentials.create(vault.id, {
    auth: {
      type: "mcp_oauth",
      mcp_server_url: server.url,
      access_token,
      expires_at: new Date(clock.now() + expiresIn * 1_000).toISOString(),
      refresh: refresh && {
        client_id: "tandem",
        refresh_token,
        token_endpoint: `${server.origin}/token`,
        token_endpoint_auth: { type: "none" },
        ...refresh,
      },
    },
  });
  return { vault: vault.id, id: credential.id, first: access_token };
}

/** The authorization of a session in one process. */
const authorizationIn = (process: ReturnType<typeof openProcess>, vault: string) =>
  process.credentials.authorizationFor([vault], server.url)!;

test("two processes with an expired token send one refresh, and both get the new token", async () => {
  const { vault } = await addCredential({}, 10);
  const processes = [openProcess(), openProcess()];
  const tokens = processes.flatMap((each) => [
    authorizationIn(each, vault).token(),
    authorizationIn(each, vault).token(),
  ]);
  expect(new Set(await Promise.all(tokens))).toEqual(new Set([server.accessToken]));
  expect(server.refreshes).toBe(1);
});

test("a token that several callers were refused with is refreshed once, and the refresh token rotates", async () => {
  const { vault, first } = await addCredential();
  const processes = [openProcess(), openProcess()];
  expect(await authorizationIn(processes[0]!, vault).token()).toBe(first);
  expect(server.refreshes).toBe(0);
  const renewed = await Promise.all(processes.map((each) => authorizationIn(each, vault).renew(first)));
  expect(renewed).toEqual([server.accessToken, server.accessToken]);
  expect(server.refreshes).toBe(1);
  // With the new refresh token.
  expect(await authorizationIn(processes[1]!, vault).renew(server.accessToken)).toBe(server.accessToken);
  expect(server.refreshes).toBe(2);
});

test("a lease of a process that died expires", async () => {
  const { vault, id, first } = await addCredential();
  const lease = { state: "running", until: clock.now() + 60_000 };
  await store.records.write("tandem", [{ type: "put", kind: "vault_refresh", key: id, value: lease }]);
  const reads = vi.spyOn(store.records, "get");
  const renewed = authorizationIn(openProcess(), vault).renew(first);
  // It looks again and again.
  await expect.poll(() => reads.mock.calls.filter(([, kind]) => kind === "vault_refresh").length).toBe(3);
  expect(server.refreshes).toBe(0);
  clock.advance(60_000);
  expect(await renewed).toBe(server.accessToken);
});

test.each([
  ["none", { type: "none" }],
  ["client_secret_basic", { type: "client_secret_basic", client_secret: "s3cret:&ä" }],
  ["client_secret_post", { type: "client_secret_post", client_secret: "s3cret:&ä" }],
] as const)("identifies the client with %s, and names resource and scope", async (name, auth) => {
  const { vault, first } = await addCredential({ token_endpoint_auth: auth, resource: server.url, scope: "a b" });
  await authorizationIn(openProcess(), vault).renew(first);
  const grant = Object.fromEntries(server.grants[0]!);
  expect(grant).toMatchObject({ grant_type: "refresh_token", resource: server.url, scope: "a b" });
  const basic = `Basic ${Buffer.from("tandem:s3cret%3A%26%C3%A4").toString("base64")}`;
  expect(server.tokenHeaders[0]).toBe(name === "client_secret_basic" ? basic : undefined);
  expect(grant["client_id"]).toBe(name === "client_secret_basic" ? undefined : "tandem");
  expect(grant["client_secret"]).toBe(name === "client_secret_post" ? "s3cret:&ä" : undefined);
});

test("a failed refresh is announced once, is not repeated at once, and ends with a new token", async () => {
  const { vault, id, first } = await addCredential();
  server.tokenFailure = { status: 400, body: "invalid_grant" };
  const authorization = authorizationIn(openProcess(), vault);
  expect(await authorization.renew(first)).toBeUndefined();
  expect(await authorizationIn(openProcess(), vault).renew(first)).toBeUndefined();
  expect(server.refreshes).toBe(1);
  // The token may still work.
  expect(await authorization.token()).toBe(first);
  clock.advance(61_000);
  expect(await authorization.renew(first)).toBeUndefined();
  expect(server.refreshes).toBe(2);
  expect(notes.filter(({ kind }) => kind === "vault_credential.refresh_failed")).toHaveLength(1);
  expect(JSON.stringify(notes)).not.toContain("refresh-");
  // A person rotates the credential: the running session uses it without a wait.
  server.tokenFailure = undefined;
  const { access_token, refresh_token } = server.issue();
  await openProcess().vaults.credentials.update(vault, id, {
    auth: { type: "mcp_oauth", access_token, refresh: { refresh_token } },
  });
  expect(await authorization.token()).toBe(access_token);
  expect(await authorization.renew(access_token)).toBe(server.accessToken);
});

test("a token endpoint on this machine is refused to tenants", async () => {
  const { vault, first } = await addCredential();
  expect(await authorizationIn(openProcess(true), vault).renew(first)).toBeUndefined();
  expect(server.grants).toEqual([]);
});

test("the first vault with a match wins, and another path or port does not match", async () => {
  const { vaults, credentials } = openProcess();
  const tokens = await Promise.all(
    ["one", "two"].map(async (name) => {
      const { id } = await vaults.create({ display_name: name });
      const auth = { type: "static_bearer" as const, mcp_server_url: `${server.url}/`, token: `token-of-${name}` };
      const { id: credential } = await vaults.credentials.create(id, { auth });
      return { id, credential };
    }),
  );
  const ids = tokens.map(({ id }) => id);
  expect(await credentials.authorizationFor(ids, server.url)!.token()).toBe("token-of-one");
  expect(await credentials.authorizationFor(ids.toReversed(), server.url)!.token()).toBe("token-of-two");
  expect(await credentials.authorizationFor(ids, `${server.url}/other`)!.token()).toBeUndefined();
  await vaults.credentials.archive(ids[0]!, tokens[0]!.credential);
  expect(await credentials.authorizationFor(ids, server.url)!.token()).toBe("token-of-two");
});

test.each([
  ["a token that works", {}, "valid", undefined, undefined],
  ["a token that a refresh rescues", { isOld: true }, "valid", undefined, "succeeded"],
  ["a refused refresh", { isOld: true, token: 400 }, "invalid", 401, "failed"],
  ["a token endpoint in trouble", { isOld: true, token: 503 }, "unknown", 401, "failed"],
  ["an MCP server in trouble", { mcp: 500 }, "unknown", 500, undefined],
  ["a forbidden one", { mcp: 403 }, "invalid", 403, undefined],
] as const)("validates %s", async (_name, given: { isOld?: boolean; token?: number; mcp?: number }, ...expected) => {
  const { vault, id, first } = await addCredential();
  if (given.isOld) server.accessToken = "another";
  if (given.token !== undefined) server.tokenFailure = { status: given.token, body: "no" };
  server.mcpFailure = given.mcp;
  const [status, probe, refresh] = expected;
  const result = await openProcess().vaults.credentials.validate(vault, id);
  expect(result).toMatchObject({ type: "vault_credential_validation", has_refresh_token: true, status });
  expect(result.mcp_probe?.http_response?.status_code).toBe(probe);
  expect(result.refresh?.status).toBe(refresh);
  expect(JSON.stringify(result)).not.toContain(first);
});

test("validates a credential without a refresh token, and one whose server is gone", async () => {
  const { vault, id } = await addCredential(null);
  server.accessToken = "another";
  const { credentials } = openProcess().vaults;
  expect(await credentials.validate(vault, id)).toMatchObject({
    status: "invalid",
    refresh: { status: "no_refresh_token", http_response: null },
  });
  await server[Symbol.asyncDispose]();
  const mcp_probe = { method: "initialize", http_response: null };
  expect(await credentials.validate(vault, id)).toMatchObject({ status: "unknown", mcp_probe, refresh: null });
  server = await OAuthMcpServer.start();
});
