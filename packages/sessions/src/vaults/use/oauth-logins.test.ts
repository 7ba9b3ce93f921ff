import { randomBytes } from "node:crypto";
import { OAuthMcpServer } from "@tandem/rehearsal";
import { SecretBox, type Store } from "@tandem/storage";
import { scratchStore } from "@tandem/storage/testing/scratch-store";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MovableClock } from "../../host/movable-clock.ts";
import { createVaults } from "../create-vaults.ts";

const ANN = { id: "tok_ann", name: "ann" };
const BOB = { id: "tok_bob", name: "bob" };
const BACK = "http://127.0.0.1:4444/callback";

let store: Store;
let clock: MovableClock;
let server: OAuthMcpServer;
let vault: string;
beforeEach(async () => {
  store = await scratchStore();
  clock = new MovableClock();
  server = await OAuthMcpServer.start();
  vault = (await open().vaults.create({ display_name: "work" })).id;
});
afterEach(() => server[Symbol.asyncDispose]());

const KEY = randomBytes(32);

const open = (publicOnly = false) =>
  createVaults({
    records: store.records,
    secrets: new SecretBox(async () => KEY),
    note: async () => {},
    log: { warn: () => {} },
    clock,
    publicOnly,
  });

const params = () => ({ vault_id: vault, mcp_server_url: server.url, redirect_uri: BACK });

/** The browser: opens the page, where the person agrees, and follows to the redirect. */
async function agree(authorizationUrl: string): Promise<{ code: string; state: string; iss: string }> {
  const { headers } = await fetch(authorizationUrl, { redirect: "manual" });
  const { searchParams } = new URL(headers.get("location") ?? "");
  return { code: searchParams.get("code")!, state: searchParams.get("state")!, iss: searchParams.get("iss")! };
}

test("a login ends as a credential that works and can be refreshed", async () => {
  const { logins, credentials } = open();
  const login = await logins.start(params(), ANN);
  const asked = new URL(login.authorization_url).searchParams;
  expect(Object.fromEntries(asked)).toMatchObject({
    client_id: "registered-client",
    code_challenge_method: "S256",
    resource: server.url,
    scope: "tools",
    redirect_uri: BACK,
  });
  // Another process of the fleet gets the browser back.
  const created = await open().logins.finish(await agree(login.authorization_url), ANN);
  expect(created).toMatchObject({
    vault_id: vault,
    auth: {
      type: "mcp_oauth",
      mcp_server_url: server.url,
      refresh: { client_id: "registered-client", token_endpoint: `${server.origin}/token`, resource: server.url },
    },
  });
  const authorization = credentials.authorizationFor([vault], server.url)!;
  expect(await authorization.token()).toBe(server.accessToken);
  expect(await authorization.renew(server.accessToken)).toBe(server.accessToken);
  expect(server.refreshes).toBe(1);
});

test("a second login replaces the credential of the same server", async () => {
  const { logins, vaults } = open();
  const first = await logins.finish(await agree((await logins.start(params(), ANN)).authorization_url), ANN);
  const second = await logins.finish(await agree((await logins.start(params(), ANN)).authorization_url), ANN);
  const { archived_at: archivedAt } = await vaults.credentials.get(vault, first.id);
  expect(archivedAt).not.toBeNull();
  expect(await open().credentials.authorizationFor([vault], server.url)!.token()).toBe(server.accessToken);
  expect(second.archived_at).toBeNull();
});

test.each([
  ["another sign-in", async (back: object) => ({ back, by: BOB })],
  ["an unknown state", async (back: object) => ({ back: { ...back, state: "made-up" }, by: ANN })],
  ["another issuer", async (back: object) => ({ back: { ...back, iss: "https://evil.example" }, by: ANN })],
  ["a login that took too long", async (back: object) => (clock.advance(600_001), { back, by: ANN })],
])("refuses %s, and asks for no token", async (_name, change) => {
  const { logins } = open();
  const back = await agree((await logins.start(params(), ANN)).authorization_url);
  const { back: changed, by } = await change(back);
  await expect(logins.finish(changed as typeof back, by)).rejects.toThrow(/unknown, expired/);
  expect(server.grants).toEqual([]);
});

test("a state works once, also for two requests at the same time", async () => {
  const back = await agree((await open().logins.start(params(), ANN)).authorization_url);
  const results = await Promise.allSettled([open().logins.finish(back, ANN), open().logins.finish(back, ANN)]);
  expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(server.grants).toHaveLength(1);
});

test("the browser comes back to this machine or to the page that asked, and nowhere else", async () => {
  const { logins } = open();
  const page = "https://tandem.example/settings/vaults";
  const at = (redirect_uri: string) => ({ ...params(), redirect_uri });
  await expect(logins.start(at(page), ANN)).rejects.toThrow(/redirect_uri/);
  await expect(logins.start(at("https://evil.example/"), ANN, "https://tandem.example")).rejects.toThrow(
    /redirect_uri/,
  );
  await logins.start(at(page), ANN, "https://tandem.example");
});

test("a given client is not registered, and its secret is used", async () => {
  const { logins } = open();
  const given = { ...params(), client_id: "mine", client_secret: "of-the-client" };
  const created = await logins.finish(await agree((await logins.start(given, ANN)).authorization_url), ANN);
  expect(created.auth).toMatchObject({
    refresh: { client_id: "mine", token_endpoint_auth: { type: "client_secret_basic" } },
  });
  expect(server.tokenHeaders[0]).toBe(`Basic ${Buffer.from("mine:of-the-client").toString("base64")}`);
});

test("a refused exchange creates nothing, and the error has no secret", async () => {
  const { logins, vaults } = open();
  const back = await agree((await logins.start(params(), ANN)).authorization_url);
  server.tokenFailure = { status: 400, body: `no ${back.code}` };
  const error = await logins.finish(back, ANN).catch((thrown: unknown) => String(thrown));
  expect(error).toMatch(/answered 400/);
  expect(error).not.toContain(back.code);
  expect((await vaults.credentials.list(vault, { limit: 10 })).data).toEqual([]);
});

test("a server on this machine is refused to tenants", async () => {
  await expect(open(true).logins.start(params(), ANN)).rejects.toThrow(/loopback, private or reserved/);
});

test("no secret of an open login is in the store in the clear", async () => {
  await open().logins.start({ ...params(), client_id: "mine", client_secret: "of-the-client" }, ANN);
  const stored = JSON.stringify(await store.records.list("tandem", "vault_login", { limit: 10 }));
  expect(stored).toContain("sealed");
  expect(stored).not.toContain("of-the-client");
});

test("a server that names itself must do so when the browser comes back", async () => {
  server.metadata = { authorization_response_iss_parameter_supported: true };
  const { logins } = open();
  const { iss: _, ...back } = await agree((await logins.start(params(), ANN)).authorization_url);
  await expect(logins.finish(back, ANN)).rejects.toThrow(/unknown, expired/);
  await logins.finish(await agree((await logins.start(params(), ANN)).authorization_url), ANN);
  expect(server.grants).toHaveLength(1);
});

test.each([
  "calculator://localhost/run",
  "file://localhost/etc/passwd",
  "http://127.evil.example/",
  "javascript:alert(1)",
])("refuses a login page at %s, which a browser would open", async (page) => {
  server.metadata = { authorization_endpoint: page };
  await expect(open().logins.start(params(), ANN)).rejects.toThrow(/The login cannot start/);
});

test.each([{ expires_in: 1e300 }, { expires_in: null }, { expires_in: "soon" }, { refresh_token: null }])(
  "keeps the tokens of an answer with %j",
  async (fields) => {
    server.tokenFields = fields;
    const { logins, credentials } = open();
    const created = await logins.finish(await agree((await logins.start(params(), ANN)).authorization_url), ANN);
    if ("expires_in" in fields) expect(created.auth).toMatchObject({ expires_at: null });
    expect(await credentials.authorizationFor([vault], server.url)!.token()).toBe(server.accessToken);
  },
);
