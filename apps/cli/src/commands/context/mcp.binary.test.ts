import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { reply, text, toolUse } from "@tandem/rehearsal";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { scratchMachine, TANDEM } from "../../testing/run-tandem.ts";
import { makeShop, SHOP_CONFIG } from "../../testing/scanned-shop.ts";
import { sessionMachine } from "../../testing/session-machine.ts";

async function shop() {
  const machine = await scratchMachine(SHOP_CONFIG);
  await makeShop(machine.folder);
  await machine.trust();
  return machine;
}

const MESSAGES = [
  {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "pipe", version: "1" } },
  },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/call", params: { name: "context_search", arguments: { query: "refunds" } } },
];

describe("tandem mcp", () => {
  test("serves the official client from another folder, and exits when it disconnects", async () => {
    await using machine = await shop();
    const client = new Client({ name: "judge", version: "1.0.0" });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [TANDEM, "mcp", "--project", machine.project],
      env: machine.variables,
      cwd: machine.folder.join("home"),
      stderr: "pipe",
    });
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).join(" ")).toBe(
      "context_search page_read context_overview connection_list table_list table_describe join_path value_lookup metric_search metric_query sql_query memory_capture job_status",
    );
    const found = await client.callTool({ name: "sql_query", arguments: { connection: "shop", sql: "select 6*7 n" } });
    expect(found).toMatchObject({ structuredContent: { columns: ["n"], rows: [[42]] } });
    const refused = await client.callTool({
      name: "sql_query",
      arguments: { connection: "shop", sql: "delete from orders" },
    });
    expect(refused).toMatchObject({ isError: true });
    const { pid } = transport;
    await client.close();
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  });

  test("answers piped requests with only protocol messages on stdout, from a subfolder", async () => {
    await using machine = await shop();
    await mkdir(machine.folder.join("project", "deep", "down"), { recursive: true });
    const stdin = MESSAGES.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
    const { code, stdout, stderr } = await machine.run(["mcp"], { stdin, cwd: "deep/down" });
    expect([code, stderr]).toEqual([0, ""]);
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: number; result: object });
    expect(answers.map(({ id }) => id)).toEqual([1, 2]);
    expect(answers[1]!.result).toMatchObject({ structuredContent: { hits: [{ key: "page:refunds" }] } });
  });

  test("reports errors on stderr", async () => {
    await using machine = await scratchMachine();
    const { code, stdout, stderr } = await machine.run(["mcp"]);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining("no tandem.yaml")]);
  });
});

describe("tandem up", () => {
  test("serves the context over HTTP and MCP, scans in the background, and gives it to sessions", async () => {
    const sources = "ingest: { sources: { handbook: { path: handbook } } }\n";
    await using machine = await sessionMachine([], SHOP_CONFIG + sources);
    await makeShop(machine.folder);
    await mkdir(machine.folder.join("project", "handbook"));
    await writeFile(machine.folder.join("project", "handbook", "parcels.md"), "# Parcels\n\nThey leave on Fridays.\n");
    await using server = await machine.up();
    const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
    const call = async (method: string, path: string, body?: object) =>
      (await (
        await fetch(`${server.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      ).json()) as Record<string, unknown>;

    for (const [kind, params] of [
      ["scan", { connection: "shop", descriptions: false }],
      ["ingest", {}],
    ] as const) {
      const { id } = await call("POST", "/v1/jobs", { kind, params });
      await expect
        .poll(() => call("GET", `/v1/jobs/${String(id)}`))
        .toMatchObject({ kind, state: expect.stringMatching(/done|partly/), error: null });
    }
    expect(await call("GET", "/v1/context")).toMatchObject({
      counts: { table: 2, page: 1 },
      job_kinds: expect.arrayContaining(["scan", "ingest"]),
    });
    expect(
      await call("POST", "/v1/context/sql", { connection: "shop", sql: "select count(*) from orders" }),
    ).toMatchObject({ rows: [[3]] });
    expect(await call("POST", "/v1/context/sql", { connection: "shop", sql: "drop table orders" })).toMatchObject({
      error: { type: "invalid_request_error" },
    });

    const requestInit = { headers: { authorization: `Bearer ${server.token}` } };
    // One client after another: each gets schemas of its own.
    const lists: unknown[] = [];
    for (const name of ["first", "second"]) {
      const client = new Client({ name, version: "1.0.0" });
      await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));
      lists.push((await client.listTools()).tools);
      const described = await client.callTool({ name: "table_describe", arguments: { table: "orders" } });
      expect(described).toMatchObject({ structuredContent: { joins: [{ to: "main.customers" }] } });
      await client.close();
    }
    expect(lists[1]).toEqual(lists[0]);

    machine.rehearsal.use([
      reply([toolUse("mcp__context__context_search", { query: "refunds" })]),
      reply([toolUse("mcp__context__page_read", { key: "page:refunds" })]),
      reply([toolUse("mcp__context__sql_query", { connection: "shop", sql: "select count(*) from orders" })]),
      text("Within 30 days."),
    ]);
    const { code, stdout } = await machine.run(["run", "When is money paid back?"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("Within 30 days.")]);
    const [first, second, third] = machine.rehearsal.modelRequests;
    expect(first!.toolNames).toEqual(
      expect.arrayContaining(["mcp__context__context_search", "mcp__context__sql_query"]),
    );
    expect(JSON.stringify(second!.toolResults)).toContain("page:refunds");
    expect(JSON.stringify(third!.toolResults)).toContain("30 days of delivery");
    const audited = await machine.run(["audit", "list", "--verdict", "proven", "--json"]);
    expect(JSON.parse(audited.stdout)).toMatchObject({
      entries: [
        { kind: "call.finished", details: { verdict: "proven" } },
        { kind: "sql.run", details: { sql: "select count(*) from orders", verdict: "proven", rows: 1 } },
      ],
    });
    const { code: ended } = await server.stop();
    expect(ended).toBe(0);
  });

  test("creates no context in a project without one, and says so", async () => {
    await using machine = await sessionMachine([]);
    // An unrelated folder with the name of the context folder.
    await mkdir(machine.folder.join("project", "context"));
    await using server = await machine.up();
    const response = await fetch(`${server.url}/v1/context`, { headers: { authorization: `Bearer ${server.token}` } });
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining("has no context")]);
    expect(existsSync(machine.folder.join("project", "context", ".git"))).toBe(false);
  });

  test("sessions have the context without a server, unless it is disabled", async () => {
    await using machine = await sessionMachine([], SHOP_CONFIG);
    await makeShop(machine.folder);
    machine.rehearsal.use([reply([toolUse("mcp__context__context_search", { query: "refunds" })]), text("Found.")]);
    expect((await machine.run(["run", "Look."])).code).toBe(0);
    expect(JSON.stringify(machine.rehearsal.modelRequests[1]!.toolResults)).toContain("page:refunds");
    await machine.run(["config", "set", "sessions.context", "false"]);
    machine.rehearsal.use([text("Nothing.")]);
    expect((await machine.run(["run", "Look."])).code).toBe(0);
    expect(machine.rehearsal.modelRequests.at(-1)!.toolNames.join()).not.toContain("mcp__context");
  });
});
