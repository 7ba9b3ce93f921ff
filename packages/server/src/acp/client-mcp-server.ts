import { RequestError } from "@tandem/protocol";
import type { ClientServer } from "./client-servers.ts";

/** An MCP server as a client names it. */
interface NamedMcpServer {
  type?: string;
  name: string;
  command?: string;
  args?: readonly string[];
  env?: readonly { name: string; value: string }[];
  url?: string;
  headers?: readonly { name: string; value: string }[];
}

/** Reserved by Tandem and Claude Code; agents may not use them either. */
const TAKEN = ["tandem", "custom", "ide"];

/** The servers with names that are valid in tool names. */
export function clientServers(servers: readonly NamedMcpServer[]): ClientServer[] {
  const taken = new Set(TAKEN);
  return servers.map((server) => {
    const name = freeName(server.name, taken);
    const { type = "stdio", command, args = [], env = [], url, headers = [] } = server;
    if (type === "stdio" && command !== undefined) return { name, type, command, args, variables: entries(env) };
    if ((type === "http" || type === "sse") && url !== undefined) {
      if (/^https?:$/.test(URL.parse(url)?.protocol ?? "")) return { name, type, url, headers: entries(headers) };
      throw new RequestError("invalid_request", `mcpServers: ${server.name} has no http or https address.`);
    }
    throw new RequestError("invalid_request", `mcpServers: servers of the kind ${type} are not supported.`);
  });
}

/**
 * Editors allow any text; tool names allow only letters, digits, `_` and `-`. A double `_` separates server and tool,
 * so a name that contains one could pass for a tool of another server and match its rules.
 */
function freeName(wanted: string, taken: Set<string>): string {
  const base =
    wanted
      .replaceAll(/[^\w-]/g, "_")
      .replaceAll(/_{2,}/g, "_")
      .slice(0, 60)
      .replaceAll(/^_|_$/g, "") || "server";
  let name = base;
  for (let count = 2; taken.has(name); count += 1) name = `${base}_${count}`;
  taken.add(name);
  return name;
}

const entries = (pairs: readonly { name: string; value: string }[]): Record<string, string> =>
  Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
