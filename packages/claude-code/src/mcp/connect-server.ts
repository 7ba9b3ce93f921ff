import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  type CallToolResult,
  CallToolResultSchema,
  type Tool,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { ProcessLedger } from "../process-ledger.ts";
import { inheritedVariables } from "../variables.ts";
import { StdioTransport, type StdioPlace } from "./stdio-transport.ts";

/** A server that lists tools without end must not take all memory. */
const MOST_PAGES = 50;

/** A tool as its server defines it. Everything in it reaches the model or decides how it is called. */
export type McpTool = Pick<Tool, "name" | "description" | "inputSchema" | "annotations">;
export type McpToolReply = CallToolResult;

export type McpPlace =
  /** `sse` is the older way over HTTP, which some servers still have alone. */
  | { type: "http" | "sse"; url: string; headers: Readonly<Record<string, string>> }
  /** `variables` are those beside what any child may know. */
  | ({ type: "stdio" } & StdioPlace);

export interface McpConnection extends AsyncDisposable {
  tools(): Promise<McpTool[]>;
  call(tool: string, input: Record<string, unknown>, signal: AbortSignal): Promise<McpToolReply>;
}

/**
 * Connects to an MCP server as its one client: no other session shares the connection. Redirects of a server over HTTP are
 * not followed to another host. Rejects with why it could not be reached.
 */
export async function connectServer(
  place: McpPlace,
  settings: {
    ledger: ProcessLedger;
    /** A local server is given the few of them that any child may know, and those of its place. */
    hostVariables: Readonly<Record<string, string | undefined>>;
    connectMs: number;
    callMs: number;
    /** The server says that its tools have changed. */
    onToolsChanged: () => void;
  },
): Promise<McpConnection> {
  const transport = openTransport(place, settings);
  const client = new Client({ name: "tandem", version: "1.0.0" });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => settings.onToolsChanged());
  try {
    await client.connect(transport, { timeout: settings.connectMs });
  } catch (error) {
    await transport.close().catch(() => {});
    const words = transport instanceof StdioTransport ? transport.lastWords : "";
    throw new Error(`${error instanceof Error ? error.message : String(error)}${words ? ` (stderr: ${words})` : ""}`, {
      cause: error,
    });
  }
  return {
    async tools() {
      const tools: McpTool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MOST_PAGES; page += 1) {
        const listed = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: settings.connectMs });
        tools.push(...listed.tools.map(asDefined));
        cursor = listed.nextCursor;
        if (cursor === undefined) return tools;
      }
      throw new Error("The MCP server lists more tools than anybody could read.");
    },
    async call(name, input, signal) {
      const options = { signal, timeout: settings.callMs };
      return CallToolResultSchema.parse(await client.callTool({ name, arguments: input }, undefined, options));
    },
    async [Symbol.asyncDispose]() {
      await client.close().catch(() => {});
    },
  };
}

/** What is there, and nothing that a later SDK adds: the same definition must come to the same hash. */
const asDefined = ({ name, description, inputSchema, annotations }: Tool): McpTool => ({
  name,
  ...(description !== undefined && { description }),
  inputSchema,
  ...(annotations && { annotations }),
});

function openTransport(
  place: McpPlace,
  { ledger, hostVariables }: Pick<Parameters<typeof connectServer>[1], "ledger" | "hostVariables">,
): Transport {
  if (place.type === "stdio") {
    const variables = { ...inheritedVariables(hostVariables), ...place.variables };
    return new StdioTransport({ ...place, variables }, ledger);
  }
  const requestInit = { headers: { ...place.headers } };
  const url = new URL(place.url);
  return place.type === "http"
    ? new StreamableHTTPClientTransport(url, { requestInit })
    : new SSEClientTransport(url, { requestInit });
}
