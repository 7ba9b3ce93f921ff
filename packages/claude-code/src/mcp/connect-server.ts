import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
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
import type { ProcessLedger } from "../processes/process-ledger.ts";
import { inheritedVariables, sandboxedVariables } from "../variables.ts";
import { authorizeFetch, type McpAuthorization } from "./authorize-fetch.ts";
import { createMcpFetch, type McpFetch } from "./mcp-fetch.ts";
import { StdioTransport, type StdioEndpoint } from "./stdio-transport.ts";

/** Bounds memory if a server lists tools without end. */
const MAX_PAGES = 50;

/** A tool as its server defines it. Every field reaches the model or decides how the tool is called. */
export type McpTool = Pick<Tool, "name" | "description" | "inputSchema" | "annotations">;
export type McpToolReply = CallToolResult;

export type McpEndpoint =
  | {
      /** `sse` is the older HTTP transport; some servers support nothing else. */
      type: "http" | "sse";
      url: string;
      headers: Readonly<Record<string, string>>;
      /** Refuse loopback, private and reserved addresses: the server's owner has not named this URL. */
      publicOnly: boolean;
      /** Replaces the `Authorization` of `headers`. */
      authorization?: McpAuthorization;
    }
  /** `variables` are added to the inherited allowlist. */
  | ({ type: "stdio" } & StdioEndpoint);

export interface McpConnection extends AsyncDisposable {
  tools(): Promise<McpTool[]>;
  call(tool: string, input: Record<string, unknown>, signal: AbortSignal): Promise<McpToolReply>;
}

/**
 * Connects to an MCP server; connections are not shared between sessions. HTTP redirects are not followed. Rejects with
 * the reason if the server cannot be reached.
 */
export async function connectServer(
  place: McpEndpoint,
  settings: {
    ledger: ProcessLedger;
    /** A local server gets only the allowlisted ones, plus those of its configuration. */
    hostVariables: Readonly<Record<string, string | undefined>>;
    connectMs: number;
    callMs: number;
    /** Called when the server announces changed tools. */
    onToolsChanged: () => void;
  },
): Promise<McpConnection> {
  const http = place.type === "stdio" ? undefined : createMcpFetch(place.publicOnly);
  const transport = openTransport(place, settings, http);
  const client = new Client({ name: "tandem", version: "1.0.0" });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => settings.onToolsChanged());
  try {
    await client.connect(transport, { timeout: settings.connectMs });
  } catch (error) {
    await transport.close().catch(() => {});
    await http?.[Symbol.asyncDispose]();
    if (http?.refusal) throw http.refusal;
    const words = transport instanceof StdioTransport ? transport.stderrTail : "";
    throw new Error(`${error instanceof Error ? error.message : String(error)}${words ? ` (stderr: ${words})` : ""}`, {
      cause: error,
    });
  }
  return {
    async tools() {
      const tools: McpTool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const listed = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: settings.connectMs });
        tools.push(...listed.tools.map(asDefined));
        cursor = listed.nextCursor;
        if (cursor === undefined) return tools;
      }
      throw new Error("The MCP server lists too many tools.");
    },
    async call(name, input, signal) {
      const options = { signal, timeout: settings.callMs };
      return CallToolResultSchema.parse(await client.callTool({ name, arguments: input }, undefined, options));
    },
    async [Symbol.asyncDispose]() {
      await client.close().catch(() => {});
      await http?.[Symbol.asyncDispose]();
    },
  };
}

/** Whether an MCP server answered 401 or 403 to the request that failed. */
export function isUnauthorized(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isOwn = error instanceof UnauthorizedError || ("code" in error && (error.code === 401 || error.code === 403));
  return isOwn || isUnauthorized(error.cause);
}

/** Only these fields: a field added by a later SDK must not change the hash of an unchanged definition. */
const asDefined = ({ name, description, inputSchema, annotations }: Tool): McpTool => ({
  name,
  ...(description !== undefined && { description }),
  inputSchema,
  ...(annotations && { annotations }),
});

function openTransport(
  place: McpEndpoint,
  { ledger, hostVariables }: Pick<Parameters<typeof connectServer>[1], "ledger" | "hostVariables">,
  http: Pick<McpFetch, "fetch"> | undefined,
): Transport {
  if (place.type === "stdio") {
    const inherited = place.sandbox ? sandboxedVariables(hostVariables) : inheritedVariables(hostVariables);
    const variables = { ...inherited, ...place.variables };
    return new StdioTransport({ ...place, variables }, ledger);
  }
  const url = new URL(place.url);
  const { authorization } = place;
  const fetch = http && authorization ? authorizeFetch(http.fetch, url, authorization) : http?.fetch;
  const options = { requestInit: { headers: { ...place.headers } }, ...(fetch && { fetch }) };
  return place.type === "http" ? new StreamableHTTPClientTransport(url, options) : new SSEClientTransport(url, options);
}
