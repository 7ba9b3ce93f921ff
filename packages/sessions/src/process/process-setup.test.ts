import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import type { SessionRow, Store } from "@tandem/storage";
import { afterAll, expect, test } from "vitest";
import type { McpSettings } from "../mcp/mcp-settings.ts";
import { OwnerUrls } from "../mcp/owner-urls.ts";
import type { ToolDefinitions } from "../mcp/tool-definitions.ts";
import type { ProcessSettings } from "./process-settings.ts";
import { openProcessSetup } from "./process-setup.ts";

/** Refuses every request with 404. */
const server = createServer((_request, response) => void response.writeHead(404).end());
let requests = 0;
server.on("request", () => (requests += 1));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
afterAll(() => void server.close());

/** The stored agent has `stored` as its servers, the session has one server at `url`. */
async function connects(stored: readonly string[], settings: Partial<McpSettings> = {}, named: string[] = []) {
  const records = new Map<string, unknown>();
  const store = {
    agents: { get: async () => ({ mcp_servers: stored.map((each) => ({ type: "url", name: "near", url: each })) }) },
    records: {
      get: async (_space: string, kind: string, key: string) => records.get(`${kind}/${key}`),
      write: async (_space: string, changes: { kind: string; key: string; value: unknown }[]) => {
        for (const { kind, key, value } of changes) records.set(`${kind}/${key}`, { value });
      },
    },
  } as unknown as Store;
  await new OwnerUrls(store).add(named);
  expect(JSON.stringify([...records])).not.toContain("127.0.0.1");
  const servers = settings.sessionServers ? [] : [{ type: "url", name: "near", url }];
  const row = { id: "sesn_1", folder: tmpdir(), agent: { id: "agent_1", version: 1, mcp_servers: servers } };
  const around = {
    store,
    definitions: { onAccepted: () => () => undefined } as unknown as ToolDefinitions,
    isFirst: true,
    write: () => undefined,
    hide: () => undefined,
    onLoginFailed: () => undefined,
  };
  const all = { deadlines: { init: 5_000 }, mcpTimeout: 5_000, stateFolder: tmpdir(), hostVariables: {}, ...settings };
  const before = requests;
  await using setup = await openProcessSetup(row as unknown as SessionRow, all as unknown as ProcessSettings, around);
  expect(setup.events).toContainEqual(expect.objectContaining({ type: "session.error" }));
  const isConnected = requests > before;
  expect(JSON.stringify(setup.events).includes("private or reserved address")).toBe(!isConnected);
  return isConnected;
}

test("a private URL is used if a stored agent or an admin's request names it, and not otherwise", async () => {
  expect(await connects([url])).toBe(true);
  expect(await connects([], {}, [url])).toBe(true);
  expect(await connects([])).toBe(false);
  expect(await connects([`${url}/other`], {}, [`${url}/another`])).toBe(false);
});

test("a tenant's own admins cannot name a private URL", async () => {
  expect(await connects([url], { publicMcpServers: true }, [url])).toBe(false);
});

test("a client's private URL is used if the client may name it, and not in a tenant", async () => {
  const brought = (publicOnly: boolean): Partial<McpSettings> => ({
    sessionServers: () => [
      { name: "near", origin: "client", endpoint: { type: "http", url, headers: {}, publicOnly } },
    ],
  });
  expect(await connects([], brought(false))).toBe(true);
  expect(await connects([], brought(true))).toBe(false);
  expect(await connects([], { ...brought(false), publicMcpServers: true })).toBe(false);
});
