import type { McpEndpoint } from "@tandem/claude-code";
import { RequestError } from "@tandem/protocol";
import type { ServerConfinement } from "./server-confinement.ts";
import type { FolderServer } from "../trust/trusted-parts.ts";

/** The prefix for servers of the project's config in an agent. */
const OWN = "tandem:";

/** An MCP server of a session; `origin` identifies it across sessions. */
export interface SessionMcpServer {
  name: string;
  origin: string;
  endpoint: McpEndpoint;
  timeoutMs?: number;
  /** Of a local server. Default: that of a folder's own server. */
  confinement?: ServerConfinement;
}

/** An MCP server of the project's config, with its secrets resolved. */
export type NamedServer = (
  name: string,
) => Promise<Pick<SessionMcpServer, "endpoint" | "timeoutMs" | "confinement"> | undefined>;

/** The address of an agent's server. With `publicOnly`, a URL of the agent must not have a private address. */
export async function agentServer(
  server: { name: string; url: string },
  { named, publicOnly }: { named: NamedServer | undefined; publicOnly: boolean },
): Promise<SessionMcpServer> {
  const { name, url } = server;
  if (!url.startsWith(OWN)) {
    return { name, origin: url, endpoint: { type: "http", url: httpUrl(url), headers: {}, publicOnly } };
  }
  const found = await named?.(url.slice(OWN.length));
  if (!found)
    throw new RequestError("not_found", `tandem.yaml has no MCP server ${JSON.stringify(url.slice(OWN.length))}`);
  return { name, origin: url, ...found };
}

/** The address of a server in a trusted folder's `.mcp.json`. */
export function folderServer(
  name: string,
  server: FolderServer,
  at: { folder: string; root: string; variables: Readonly<Record<string, string | undefined>> },
): SessionMcpServer {
  const origin = `${at.root}#${name}`;
  const expand = (text: string): string => expanded(text, at.variables);
  const all = (entries: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, expand(value)]));
  if ("url" in server) {
    if (server.type === "sse") throw new RequestError("invalid_request", "servers over SSE are not supported");
    const at = { url: httpUrl(expand(server.url)), headers: all(server.headers) };
    // The owner trusted the folder with this URL.
    return { name, origin, endpoint: { type: "http", ...at, publicOnly: false } };
  }
  const args = server.args.map(expand);
  const program = { command: expand(server.command), args, variables: all(server.env), folder: at.folder };
  return { name, origin, endpoint: { type: "stdio", ...program } };
}

/** Expands `${NAME}` and `${NAME:-otherwise}` like Claude Code. */
function expanded(text: string, variables: Readonly<Record<string, string | undefined>>): string {
  return text.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise: string | undefined) => {
    const value = variables[name] ?? otherwise;
    if (value === undefined) throw new RequestError("invalid_request", `the variable ${name} is not set`);
    return value;
  });
}

function httpUrl(url: string): string {
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? "")) return url;
  throw new RequestError("invalid_request", `${JSON.stringify(url)} is no http or https address`);
}
