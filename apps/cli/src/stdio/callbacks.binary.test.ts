import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { listenOnLoopback, text, toolUse } from "@tandem/rehearsal";
import { createHmac } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { sessionMachine } from "../testing/session-machine.ts";
import { StdioProcess } from "../testing/stdio-process.ts";

const TOKEN = "made-up-host-token-4711";
const KEY = "made-up-hook-key-0815";

interface Told {
  headers: IncomingMessage["headers"];
  body: string;
}

/** A host with an MCP tool and a webhook for its agents. */
async function startHost() {
  const authorizations = new Set<string | undefined>();
  const orders: unknown[] = [];
  const told: Told[] = [];
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === "/told") return void takeNote(incoming, told).then(() => outgoing.writeHead(204).end());
    authorizations.add(incoming.headers.authorization);
    if (incoming.headers.authorization !== `Bearer ${TOKEN}`) return void outgoing.writeHead(401).end();
    const mcp = new McpServer({ name: "shop", version: "1" });
    const inputSchema = { order: z.string() };
    mcp.registerTool("order_status", { description: "Says where an order is.", inputSchema }, ({ order }) => {
      orders.push(order);
      return { content: [{ type: "text", text: "On its way." }] };
    });
    const transport = new StreamableHTTPServerTransport({});
    void mcp.connect(transport as never).then(() => transport.handleRequest(incoming, outgoing));
  });
  return { ...(await listenOnLoopback(server)), authorizations, orders, told };
}

async function takeNote(incoming: IncomingMessage, told: Told[]): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  told.push({ headers: incoming.headers, body: Buffer.concat(chunks).toString("utf8") });
}

test("an agent calls its host with a header from a variable whose value is stored nowhere", async () => {
  await using host = await startHost();
  await using machine = await sessionMachine(
    ({ toolResults: [result] }) =>
      result ? text(`It is: ${result.text}`) : toolUse("mcp__shop__order_status", { order: "A-17" }),
    [
      `mcpServers: { shop: { url: "${host.url}/mcp", headers: { authorization: "env:SHOP_AUTHORIZATION" } } }`,
      `notify: { webhooks: [{ url: "${host.url}/told", secret: "env:SHOP_HOOK_KEY", on: [completed] }] }`,
    ].join("\n"),
    { SHOP_AUTHORIZATION: `Bearer ${TOKEN}`, SHOP_HOOK_KEY: KEY },
  );
  await using tandem = await StdioProcess.open(machine.open(["stdio"]));
  const agent = await tandem.ask<{ id: string }>("agents.create", {
    name: "Clerk",
    model: "sonnet",
    mcp_servers: [{ type: "url", name: "shop", url: "tandem:shop" }],
    tools: [
      { type: "mcp_toolset", mcp_server_name: "shop", default_config: { permission_policy: { type: "always_allow" } } },
    ],
  });
  const params = { agent: agent.id, environment_id: "env_local" };
  const session = await tandem.ask<{ id: string }>("sessions.create", params);
  const stream = tandem.send("sessions.events.stream", { session_id: session.id, tandem: true });
  const content = [{ type: "text", text: "Where is A-17?" }];
  await tandem.ask("sessions.events.send", { session_id: session.id, events: [{ type: "user.message", content }] });
  const answer = await tandem.event(stream, ({ type }) => type === "agent.message");
  expect(JSON.stringify(answer)).toContain("On its way.");
  expect(host.orders).toEqual(["A-17"]);
  expect([...host.authorizations]).toEqual([`Bearer ${TOKEN}`]);

  // The host gets the end event, signed with a shared key.
  await expect.poll(() => host.told.length).toBe(1);
  const [{ headers, body }] = host.told as [Told];
  expect(JSON.parse(body)).toMatchObject({ type: "completed", session_id: session.id, agent_name: "Clerk" });
  const signature = createHmac("sha256", KEY)
    .update(`${String(headers["tandem-timestamp"])}.${body}`)
    .digest("hex");
  expect(headers["tandem-signature"]).toBe(`v1=${signature}`);

  const events = await tandem.ask("sessions.events.list", { session_id: session.id, limit: 1_000, tandem: true });
  const { stdout, stderr } = await tandem.end();
  expect(tandem.faults).toEqual([]);
  const written = readdirSync(machine.variables.HOME, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
  expect(written.join("")).toContain("order_status");
  const asked = JSON.stringify(machine.rehearsal.modelRequests.map((request) => [request.body, request.headers]));
  for (const secret of [TOKEN, KEY]) {
    for (const place of [JSON.stringify(events), stdout, stderr, asked, ...written])
      expect(place).not.toContain(secret);
  }
});
