import { randomUUID } from "node:crypto";
import { Agent } from "node:http";
import { RequestError, systemClock } from "@tandem/protocol";
import { SCOPES } from "@tandem/storage";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { memoryTokens } from "../testing/memory-tokens.ts";
import { signatureOf, signInBrowser } from "../testing/page-browser.ts";
import { rawRequest } from "../testing/raw-request.ts";
import { startTestServer } from "../testing/start-test-server.ts";
import { createToken, newToken } from "./access/create-token.ts";
import { sha256 } from "./access/sha256.ts";
import { pageKeyHash } from "./page/page-signatures.ts";
import { routeTable } from "./route-table.ts";
import { refusedRoutes } from "./routes/server/refused-routes.ts";

const memory = new MemoryEngine();
const server = await startTestServer({ engine: memory.engine });
const browser = await signInBrowser(server.url, new URL(await server.signInLink()).hash.slice("#code=".length));
/** The header of a request that the browser has sent. */
const used = await signatureOf(browser.key, "/v1/agents?limit=1");
await rawRequest(server, { path: "/v1/agents?limit=1", headers: { "tandem-page": used } });
const { secret, token } = await createToken(server.tokens, { name: "page", scopes: ["admin"] });
await server.tokens.create({ ...token, sha256: `cookie:${token.sha256}` });
/** A token in a cookie of version 0.1.0, as its database has it after the upgrade. */
const oldCookie = secret;
/** Every route is asked for with each wrong credential. */
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
afterAll(async () => {
  agent.destroy();
  await server[Symbol.asyncDispose]();
});

const addressOf = (path: string): string => path.replaceAll(/:\w+/g, "some_id");
const every = [
  ...routeTable.map(({ method, path }) => ({ method: method as string, path: addressOf(path) })),
  ...refusedRoutes.flatMap(({ path }) => [
    { method: "GET", path: addressOf(path) },
    { method: "POST", path: `${addressOf(path)}/below/it` },
  ]),
  // A signature takes the place of a token there.
  { method: "POST", path: "/v1/triggers/some_id" },
  { method: "POST", path: "/v1/triggers/some_id?tenant=other" },
  { method: "GET", path: "/v1/triggers/some_id" },
  { method: "POST", path: "/v1/triggers/some_id/below" },
  { method: "GET", path: "/mcp" },
  { method: "POST", path: "/mcp" },
  { method: "DELETE", path: "/mcp" },
  { method: "GET", path: "/acp" },
  { method: "POST", path: "/acp" },
  { method: "DELETE", path: "/acp" },
  { method: "GET", path: "/nothing/here" },
  { method: "GET", path: "/" },
  { method: "PUT", path: "/v1/agents" },
  { method: "HEAD", path: "/v1/agents" },
  { method: "OPTIONS", path: "/v1/agents" },
];

/** A program on this machine can send the headers of a browser. */
const fromThePage = (headers: Record<string, string>): Record<string, string> => ({
  ...headers,
  origin: server.url,
  referer: `${server.url}/`,
  "sec-fetch-site": "same-origin",
  "sec-fetch-mode": "cors",
});

describe("without a valid token", () => {
  const wrong: Record<string, () => Record<string, string>> = {
    "none at all": () => ({}),
    "an unknown one": () => ({ authorization: `Bearer tandem_${"A".repeat(43)}` }),
    "an unknown key": () => ({ "x-api-key": `tandem_${"A".repeat(43)}` }),
    "an empty one": () => ({ authorization: "Bearer " }),
    "an empty key": () => ({ "x-api-key": "" }),
    "another way of saying it": () => ({ authorization: `Basic ${server.secret}` }),
    "a true one cut short": () => ({ authorization: `Bearer ${server.secret.slice(0, -1)}` }),
    "a true one in the query": () => ({}),
    "two that differ": () => ({ authorization: `Bearer ${server.secret}`, "x-api-key": "tandem_other" }),
    "a true key beside a strange authorization": () => ({ authorization: "Negotiate x", "x-api-key": server.secret }),
    "the page's key as a token": () => ({ authorization: `Bearer ${browser.key.publicKey}` }),
    "the page's key as a key": () => ({ "x-api-key": browser.key.publicKey }),
    "the page's stored key": () => ({ "x-api-key": pageKeyHash(browser.key.publicKey)! }),
    "the page's key in its header": () => ({ "tandem-page": browser.key.publicKey }),
    "a signature as a token": () => ({ authorization: `Bearer ${used}` }),
    "a signature as a cookie": () => fromThePage({ cookie: `tandem_page=${used}; tandem-page=${used}` }),
    "a signature of another request": () => fromThePage({ "tandem-page": used }),
    "a seal of another process": () => ({
      "tandem-passed-on": `req_${"0".repeat(24)}`,
      "tandem-passed-as": `${Date.now()}.${pageKeyHash(browser.key.publicKey)}.${"A".repeat(43)}`,
    }),
    "an old cookie as a token": () => ({ authorization: `Bearer ${oldCookie}` }),
    "an old cookie as a key": () => ({ "x-api-key": oldCookie }),
    "an old cookie from another port, with a forged origin": () => fromThePage({ cookie: `tandem_page=${oldCookie}` }),
    "a true token as a cookie, with a forged origin": () => fromThePage({ cookie: `tandem_page=${server.secret}` }),
    "a claim of scopes": () => ({ "x-scopes": "admin", "x-tandem-scope": "admin" }),
  };

  test.each(Object.entries(wrong))("(%s) no route can be reached", async (name, headers) => {
    const query = name.includes("query") ? `?token=${server.secret}&api_key=${server.secret}` : "";
    const answers = await Promise.all(
      every.map(async ({ method, path }) => {
        const { status } = await rawRequest(server, { method, path: path + query, headers: headers(), agent });
        return `${method} ${path}: ${status}`;
      }),
    );
    expect(answers).toEqual(every.map(({ method, path }) => `${method} ${path}: 401`));
  });

  test("the response is the same for every reason", async () => {
    const answers = await Promise.all(
      Object.values(wrong).map((headers) => rawRequest(server, { path: "/v1/agents", headers: headers() })),
    );
    const bodies = answers.map(({ text, headers }) => text.replaceAll(headers["request-id"] as string, "…"));
    expect(new Set(bodies).size).toBe(1);
    expect(JSON.parse(bodies[0]!)).toMatchObject({ type: "error", error: { type: "authentication_error" } });
  });

  test("an upgrade is refused like every request", async () => {
    const headers = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": "x",
      "sec-websocket-version": "13",
    };
    const { status } = await rawRequest(server, { path: "/v1/feed", headers });
    expect(status).toBe(401);
  });

  test("a session's stream does not open, and a body is not read", async () => {
    const body = "x".repeat(1_000_000);
    const { status } = await rawRequest(server, { method: "POST", path: "/v1/sessions", body });
    expect(status).toBe(401);
  });
});

test("while tokens cannot be checked, only the log contains the reason", async () => {
  const tokens = memoryTokens();
  await using away = await startTestServer({ engine: new MemoryEngine().engine, tokens });
  tokens.findByHash = () =>
    Promise.reject(
      new RequestError("unavailable", "The database cannot be used: connect ECONNREFUSED db.internal:5432."),
    );
  const { status, text } = await rawRequest(away, { path: "/v1/agents", headers: { "x-api-key": "a-guess" } });
  expect(status).toBe(503);
  expect(text).not.toContain("db.internal");
  expect(JSON.stringify(away.log)).toContain("db.internal");
});

describe("a signed-in browser", () => {
  test("reaches the API, but neither MCP nor ACP", async () => {
    expect((await browser.fetch("/v1/agents")).status).toBe(200);
    for (const path of ["/mcp", "/acp"]) {
      expect((await browser.fetch(path)).status).toBe(401);
      expect((await browser.fetch(path, { json: {} })).status).toBe(401);
    }
  });

  test("sends each signature once", async () => {
    const again = { path: "/v1/agents?limit=1", headers: { "tandem-page": used } };
    expect((await rawRequest(server, again)).status).toBe(409);
  });

  test("sends the body that it has signed", async () => {
    const signed = await signatureOf(browser.key, "/v1/tokens", '{"name":"a","scopes":["read"]}');
    const { status, text } = await rawRequest(server, {
      method: "POST",
      path: "/v1/tokens",
      headers: { "tandem-page": signed, "content-type": "application/json" },
      body: '{"name":"a","scopes":["admin"]}',
    });
    expect([status, text]).toEqual([401, expect.stringContaining("differs from the one that was signed")]);
  });

  test("is signed out when its token is revoked", async () => {
    const other = await signInBrowser(server.url, new URL(await server.signInLink()).hash.slice("#code=".length));
    expect((await other.fetch("/v1/agents")).status).toBe(200);
    await server.tokens.delete((await server.tokens.list()).at(-1)!.id);
    expect((await other.fetch("/v1/agents")).status).toBe(401);
  });
});

describe("with a token", () => {
  test("both headers are accepted", async () => {
    for (const headers of [
      { authorization: `Bearer ${server.secret}` },
      { authorization: `bearer ${server.secret}` },
      { "x-api-key": server.secret },
      { authorization: `Bearer ${server.secret}`, "x-api-key": server.secret },
    ]) {
      const { status } = await rawRequest(server, { path: "/v1/agents", headers: headers as Record<string, string> });
      expect(status).toBe(200);
    }
  });

  test.each([
    [
      "/v1/sessions",
      { agent: "a", environment_id: "env_x", metadata: { "tandem.permission_mode": "bypassPermissions" } },
    ],
    ["/v1/sessions/sesn_x", { metadata: { "tandem.permission_mode": "bypassPermissions" } }],
    ["/v1/approvals/sevt_x", { result: "allow", mode: "bypassPermissions" }],
    [`/v1/sessions/${memory.createSession({ "tandem.permission_mode": "bypassPermissions" })}/fork`, {}],
  ])("bypass mode needs the scope admin: %s", async (path, body) => {
    const ask = async (scope: "run" | "admin") => {
      const response = await server.request(path, {
        method: "POST",
        headers: { authorization: `Bearer ${await server.secretFor(scope)}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return { status: response.status, text: await response.text() };
    };
    expect(await ask("run")).toMatchObject({ status: 403, text: expect.stringContaining("scope admin") });
    expect((await ask("admin")).text).not.toContain("scope admin");
  });

  test.each([
    [
      "/v1/sessions",
      (url: string) => ({
        agent: { type: "agent_with_overrides", id: "a", mcp_servers: [{ type: "url", name: "x", url }] },
        environment_id: "env_x",
      }),
    ],
    ["/v1/sessions/sesn_x", (url: string) => ({ agent: { mcp_servers: [{ type: "url", name: "x", url }] } })],
  ])("private addresses of MCP servers need the scope admin: %s", async (path, bodyOf) => {
    for (const scope of ["run", "admin"] as const) {
      await server.request(path, {
        method: "POST",
        headers: { authorization: `Bearer ${await server.secretFor(scope)}`, "content-type": "application/json" },
        body: JSON.stringify(bodyOf(`http://127.0.0.1:9/${scope}`)),
      });
    }
    expect(memory.ownerUrls.splice(0)).toEqual(["http://127.0.0.1:9/admin"]);
  });

  test.each(SCOPES)("of the scope %s, only the routes of other scopes are forbidden", async (scope) => {
    const secret = await server.secretFor(scope);
    const answers = await Promise.all(
      routeTable.map(async (route) => {
        const isStream = route.kind === "stream" && route.name === "feed.stream";
        const path = isStream ? `${route.path}?unknown=1` : addressOf(route.path);
        const { status, text } = await rawRequest(server, {
          method: route.method,
          path,
          headers: { "x-api-key": secret },
        });
        if (status === 403) expect(text).toContain(`scope ${route.scope}`);
        return { name: route.name, forbidden: status === 403 };
      }),
    );
    const rank = SCOPES.indexOf(scope);
    expect(answers).toEqual(
      routeTable.map((route) => ({ name: route.name, forbidden: SCOPES.indexOf(route.scope) > rank })),
    );
  });

  test.each([
    ["an environment key", { environment: "some_id" }, "environments.work"],
    ["a key of another environment", { environment: "another_id" }, "nothing"],
    [
      "a session token",
      { environment: "some_id", work: { id: "some_id", session: "some_id" } },
      "its item and session",
    ],
    ["another session's token", { environment: "some_id", work: { id: "another", session: "another" } }, "nothing"],
  ])("of a worker (%s), only its own routes are open", async (_name, worker, opens) => {
    const secret = `sk-ant-oat01-${randomUUID()}`;
    await server.tokens.create({
      ...newToken({ name: "w", tenant: "default", scopes: [], sha256: sha256(secret) }, systemClock),
      worker,
    });
    const paths = every.filter(({ method }) => method !== "OPTIONS" && method !== "HEAD" && method !== "PUT");
    const reached: string[] = [];
    for (const { method, path } of paths) {
      const { status } = await rawRequest(server, { method, path, headers: { "x-api-key": secret } });
      // The last three do not exist here, and a trigger checks a signature.
      const isElsewhere = path.startsWith("/v1/triggers/") || ["/acp", "/", "/nothing/here"].includes(path);
      if (status !== 403 && !isElsewhere) {
        reached.push(`${method} ${path.replace("/v1", "")}`);
      }
    }
    const item = "/environments/some_id/work/some_id";
    const items = [`GET ${item}`, `POST ${item}`, `POST ${item}/ack`, `POST ${item}/heartbeat`, `POST ${item}/stop`];
    const queue = [
      "GET /environments/some_id/work/poll",
      "GET /environments/some_id/work/stats",
      "GET /environments/some_id/work",
    ];
    const session = ["GET /sessions/some_id", "GET /sessions/some_id/events", "POST /sessions/some_id/events"];
    const expected = {
      "environments.work": [...queue, ...items],
      "its item and session": [...items, ...session, "GET /sessions/some_id/events/stream"],
      nothing: [],
    }[opens];
    expect(reached.sort()).toEqual(expected?.sort());
  });

  test("that was revoked, every request is refused", async () => {
    const secret = await server.secretFor("admin");
    const reach = async () =>
      (await rawRequest(server, { path: "/v1/agents", headers: { "x-api-key": secret } })).status;
    expect(await reach()).toBe(200);
    const rows = await server.tokens.list();
    await server.tokens.delete(rows.at(-1)!.id);
    expect(await reach()).toBe(401);
  });
});

test("every route that writes needs more than `read`, and none is a GET", () => {
  // Read-only queries with a body.
  const asking = new Set(["context.sql", "context.metrics.query", "rules.test"]);
  for (const route of routeTable) {
    // These concern all users of the tenant, so they need `admin`.
    if (/^(audit|tokens|tenants|credentials|notifications|organization|environments\.keys)\./.test(route.name)) {
      expect(route.scope).toBe("admin");
      continue;
    }
    // Anthropic's API takes a work item with a GET.
    const isReading = route.method === "GET" && route.name !== "environments.work.poll";
    expect(route.scope === "read", route.name).toBe(isReading || asking.has(route.name));
  }
});

test("GET routes only call functions that read", async () => {
  const called: string[] = [];
  const reads = new Set(
    `list get versions events head threads tasks feed usage modelUsage content search read models export cassette status
    encodedEvents patch state session diff checkpoints commands commandsIn of dead use version deliveries entries entry stats poll`.split(
      /\s+/,
    ),
  );
  const watch = (target: object, path: string): object =>
    new Proxy(target, {
      get(object, key) {
        const value = Reflect.get(object, key) as unknown;
        const name = `${path}${String(key)}`;
        if (typeof value === "function") {
          called.push(String(key));
          return value.bind(object) as unknown;
        }
        return typeof value === "object" && value !== null ? watch(value, `${name}.`) : value;
      },
    });
  const refused: string[] = [];
  await using watched = await startTestServer({ engine: watch(new MemoryEngine().engine, "") as never });
  for (const route of routeTable.filter(({ method, kind }) => method === "GET" && kind !== "stream")) {
    const needed = Object.entries(route.query.shape).filter(([, schema]) => !z.safeParse(schema, undefined).success);
    const query = new URLSearchParams(Object.fromEntries(needed.map(([key]) => [key, "a"])));
    // It needs `name` or `text`.
    if (route.name === "sessions.files.search") query.set("name", "a");
    const { status } = await watched.request(`${addressOf(route.path)}?${query.toString()}`);
    // A request that is refused for its form calls nothing.
    if (status === 400) refused.push(route.name);
  }
  expect(refused).toEqual([]);
  expect(called.length).toBeGreaterThan(10);
  expect(called.filter((name) => !reads.has(name))).toEqual([]);
});

describe("health", () => {
  test("needs no token and reveals nothing", async () => {
    for (const path of ["/healthz", "/readyz"]) {
      const { status, text } = await rawRequest(server, { path });
      expect({ status, text }).toEqual({ status: 204, text: "" });
    }
  });

  test("is not ready during a database outage, and recovers afterwards", async () => {
    let isAway = true;
    const check = async (): Promise<void> => {
      if (isAway) throw new Error("gone: db.internal");
    };
    await using flaky = await startTestServer({ engine: new MemoryEngine().engine, check });
    const { status, text } = await rawRequest(flaky, { path: "/readyz" });
    expect({ status, text }).toEqual({ status: 503, text: '{"reason":"database_unavailable"}' });
    expect((await rawRequest(flaky, { path: "/healthz" })).status).toBe(204);
    isAway = false;
    await expect.poll(async () => (await rawRequest(flaky, { path: "/readyz" })).status).toBe(204);
  });
});
