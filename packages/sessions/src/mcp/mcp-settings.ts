import type { HostServer } from "@tandem/claude-code";
import type { SessionId } from "@tandem/protocol";
import type { SessionLanguages } from "./session-languages.ts";
import type { NamedServer, SessionMcpServer } from "./session-mcp-server.ts";

export interface McpSettings {
  /** Limit for one call of a tool, in milliseconds. */
  mcpTimeout: number;
  /**
   * In-process servers that every session has. Their read-only tools run without approval, the others need one. An agent's
   * own MCP server of the same name takes precedence.
   */
  hostServers?: (session: SessionId) => Promise<readonly HostServer[]>;
  /** Language servers for sessions in trusted folders. The engine sets it. */
  languageServers?: SessionLanguages | undefined;
  /** MCP servers that a client attached to its session; an agent's server of the same name takes precedence. */
  sessionServers?: (session: SessionId) => readonly SessionMcpServer[];
  /** MCP servers of the project's config, which agents name as `tandem:NAME`. */
  mcpServer?: NamedServer;
  /**
   * Whether URLs of agents and clients must have public addresses, even those that an admin named. For tenants, whose admins are not the
   * owner of the server.
   */
  publicMcpServers?: boolean;
}
