import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, describe, expect, test } from "vitest";
import { makeUpContext } from "../testing/made-up-context.ts";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { rawRequest } from "../testing/raw-request.ts";
import { startTestServer } from "../testing/start-test-server.ts";

const context = await makeUpContext();
const server = await startTestServer({ engine: new MemoryEngine().engine, context, settings: { heartbeatMs: 100 } });
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await context[Symbol.asyncDispose]();
});

/** The official client, unmodified. */
async function connect(secret = server.secret) {
  const client = new Client({ name: "judge", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${secret}` } },
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1,
      maxReconnectionDelay: 1,
      reconnectionDelayGrowFactor: 1,
    },
  });
  await client.connect(transport);
  return { client, transport, [Symbol.asyncDispose]: () => client.close() };
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

const send = (body: unknown, headers: Record<string, string> = {}) =>
  rawRequest(server, {
    method: "POST",
    path: "/mcp",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "x-api-key": server.secret,
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

describe("the official client", () => {
  test("sees every tool with description and schemas, and the server's instructions", async () => {
    await using judge = await connect();
    expect(judge.client.getServerVersion()).toMatchObject({ name: "tandem", version: "1.2.3" });
    expect(judge.client.getInstructions()).toContain("context_search");
    const { tools } = await judge.client.listTools();
    expect(tools.map(({ name }) => name).join(" ")).toBe(
      "context_search page_read context_overview connection_list table_list table_describe join_path value_lookup metric_search metric_query sql_query ingest_start job_status",
    );
    for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
      expect(description!.length, name).toBeGreaterThan(60);
      expect([inputSchema.type, outputSchema?.type], name).toEqual(["object", "object"]);
      expect(annotations?.readOnlyHint, name).toBe(name !== "ingest_start");
    }
  });

  test("gets Markdown and structured content", async () => {
    await using judge = await connect();
    const call = async (name: string, args: Record<string, unknown>) =>
      (await judge.client.callTool({ name, arguments: args })) as {
        content: { type: string; text: string }[];
        structuredContent?: Record<string, unknown>;
        isError?: boolean;
      };
    const found = await call("context_search", { query: "refunds" });
    expect(found.content[0]!.text).toContain("`page:refunds`");
    expect(found.structuredContent).toMatchObject({ hits: [{ key: "page:refunds", kind: "page" }] });
    // Claude Code shows the structured answer to the model, so it is quoted like the text.
    const fields = Object.entries(found.structuredContent!);
    expect([fields[0], fields.at(-1)]).toEqual([
      ["quotation_begins", expect.stringMatching(/^<result-\w+> .*never an instruction/)],
      ["quotation_ends", expect.stringMatching(/^<\/result-\w+>$/)],
    ]);
    expect((await call("page_read", { key: "page:refunds" })).content[0]!.text).toContain("Within 30 days");
    expect((await call("table_describe", { table: "shop/main.orders" })).structuredContent).toMatchObject({
      table: "orders",
    });
    expect((await call("join_path", { from: "parcels", to: "customers" })).content[0]!.text).toContain(
      "JOIN main.customers ON",
    );
    expect((await call("value_lookup", { values: ["bern", "Genf"] })).structuredContent).toMatchObject({
      found: [{ column: "city", stored: "Bern" }],
      missing: ["Genf"],
    });
    expect((await call("sql_query", { connection: "shop", sql: "select 1" })).content[0]!.text).toContain("| 42 |");
    const started = await call("ingest_start", {});
    const job = started.structuredContent!["job"] as string;
    await expect
      .poll(async () => (await call("job_status", { job })).structuredContent)
      .toMatchObject({ state: "done", result: { counted: 1 } });
  });

  test("gets an error message for bad input", async () => {
    await using judge = await connect();
    const missing = await judge.client.callTool({ name: "page_read", arguments: { key: "page:refund" } });
    expect(missing).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("no page page:refund") }],
    });
    const escape = await judge.client.callTool({ name: "page_read", arguments: { key: "../../tandem.db" } });
    expect(escape).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("cannot be the path") }] });
    const wrong = await judge.client.callTool({ name: "context_search", arguments: { query: 7 } });
    expect(wrong).toMatchObject({ isError: true });
  });

  test("with a read-only token neither sees nor can call tools that start work", async () => {
    await using judge = await connect(await server.secretFor("read"));
    const { tools } = await judge.client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain("ingest_start");
    expect(await judge.client.callTool({ name: "ingest_start", arguments: {} })).toMatchObject({ isError: true });
    expect((await context.jobs.list({ limit: 100, kind: "count", states: ["queued", "running"] })).data).toEqual([]);
  });

  test("ends its session, which is unknown afterwards", async () => {
    await using judge = await connect();
    const id = judge.transport.sessionId!;
    await judge.transport.terminateSession();
    expect((await send({ jsonrpc: "2.0", id: 2, method: "ping" }, { "mcp-session-id": id })).status).toBe(404);
  });
});

describe("clients", () => {
  test("have separate servers: responses with equal ids do not cross", async () => {
    const judges = await Promise.all(Array.from({ length: 8 }, () => connect()));
    const answers = await Promise.all(
      judges.map(({ client }, at) =>
        client.callTool({ name: "value_lookup", arguments: { values: [`nothing-${at}`] } }),
      ),
    );
    expect(answers.map(({ structuredContent }) => structuredContent)).toMatchObject(
      judges.map((_, at) => ({ found: [], missing: [`nothing-${at}`] })),
    );
    await Promise.all(judges.map(({ client }) => client.close()));
  });

  test("cannot use a session of another token", async () => {
    await using judge = await connect();
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
    const own = { "mcp-session-id": judge.transport.sessionId! };
    expect((await send(ping, own)).status).toBe(200);
    const other = { ...own, "x-api-key": await server.secretFor("admin") };
    expect((await send(ping, other)).status).toBe(404);
    const listen = await rawRequest(server, { path: "/mcp", headers: { ...other, accept: "text/event-stream" } });
    expect(listen.status).toBe(404);
    expect((await rawRequest(server, { method: "DELETE", path: "/mcp", headers: other })).status).toBe(404);
    expect((await send(ping, own)).status).toBe(200);
  });

  test("lose their streams and sessions when their token is revoked", async () => {
    const secret = await server.secretFor("read");
    const row = (await server.tokens.list()).at(-1)!;
    const { status, headers } = await send(INITIALIZE, { "x-api-key": secret });
    expect(status).toBe(200);
    const own = { "mcp-session-id": headers["mcp-session-id"] as string, "x-api-key": secret };
    const listen = () => fetch(`${server.url}/mcp`, { headers: { ...own, accept: "text/event-stream" } });
    const stream = await listen();
    expect(stream.status).toBe(200);
    // A second stream of the same client is refused.
    expect((await listen()).status).toBe(409);
    await server.tokens.delete(row.id);
    await stream.text();
    await server.tokens.create(row);
    expect((await send({ jsonrpc: "2.0", id: 2, method: "ping" }, own)).status).toBe(404);
  });

  test("clients that never disconnect evict the oldest session of their own token only", async () => {
    const secret = await server.secretFor("read");
    const begin = async (key: string) =>
      (await send(INITIALIZE, { "x-api-key": key })).headers["mcp-session-id"] as string;
    const ping = async (key: string, id: string) =>
      (await send({ jsonrpc: "2.0", id: 2, method: "ping" }, { "x-api-key": key, "mcp-session-id": id })).status;
    const other = await begin(server.secret);
    const [first, second] = [await begin(secret), await begin(secret)];
    for (let more = 0; more < 99; more += 1) await begin(secret);
    expect([await ping(secret, first), await ping(secret, second)]).toEqual([404, 200]);
    expect(await ping(server.secret, other)).toBe(200);
  });
});

describe("the HTTP endpoint", () => {
  test("applies the guard, the token check and the body limits of every route", async () => {
    expect((await send(INITIALIZE, { "x-api-key": "tandem_wrong" })).status).toBe(401);
    expect((await send(INITIALIZE, { host: "evil.example" })).status).toBe(403);
    expect((await send(INITIALIZE, { origin: "http://evil.example" })).status).toBe(403);
    expect((await send(INITIALIZE, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await send(INITIALIZE, { "content-type": "text/plain" })).status).toBe(415);
    expect((await send("{")).status).toBe(400);
    expect((await send("[".repeat(300))).status).toBe(400);
    expect((await send(`"${"x".repeat(2_000_000)}"`)).status).toBe(413);
    expect((await send(Array.from({ length: 21 }, () => INITIALIZE))).status).toBe(413);
    expect(
      (await rawRequest(server, { method: "PUT", path: "/mcp", headers: { "x-api-key": server.secret } })).status,
    ).toBe(405);
  });

  test("starts no session without initialize, and says so", async () => {
    const { status } = await send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    expect(status).toBe(400);
    const { status: unknown } = await send({ jsonrpc: "2.0", id: 1, method: "ping" }, { "mcp-session-id": "made-up" });
    expect(unknown).toBe(404);
  });

  test("writes each request to the access log", async () => {
    const before = server.log.length;
    await send(INITIALIZE);
    await expect
      .poll(() => server.log.slice(before))
      .toContainEqual(expect.objectContaining({ msg: "request", method: "POST", path: "/mcp", status: 200 }));
  });

  test("a server without a context reports that", async () => {
    await using bare = await startTestServer({ engine: new MemoryEngine().engine });
    const response = await bare.request("/mcp", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(INITIALIZE),
    });
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining("no context")]);
  });

  test("a server that stops closes its streams", async () => {
    const other = await startTestServer({ engine: new MemoryEngine().engine, context });
    const begun = await other.request("/mcp", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify(INITIALIZE),
    });
    await begun.text();
    const stream = await other.request("/mcp", {
      headers: { accept: "text/event-stream", "mcp-session-id": begun.headers.get("mcp-session-id")! },
    });
    expect(stream.status).toBe(200);
    const read = stream.text();
    await other.close(5_000);
    await read;
  });
});
