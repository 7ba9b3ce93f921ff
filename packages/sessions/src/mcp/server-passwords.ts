import { REDACTED, redactText, redactValue, RequestError, type McpServer } from "@tandem/protocol";

// The URL of an MCP server may contain a password. Clients see a placeholder; an update may send it back.

export const hidePasswords = (servers: readonly McpServer[]): McpServer[] =>
  servers.map((server) => ({ ...server, url: redactText(server.url) }));

/** The agent of a session or thread as clients see it. */
export const servedAgent = <T extends { mcp_servers: McpServer[] }>(agent: T): T => ({
  ...agent,
  mcp_servers: hidePasswords(agent.mcp_servers),
  ...("multiagent" in agent && { multiagent: redactValue(agent.multiagent) }),
});

/** Replaces placeholders in the URLs of an update by the current passwords. */
export function restorePasswords(given: readonly McpServer[], current: readonly McpServer[]): McpServer[] {
  return given.map((server, index) => {
    if (!server.url.includes(REDACTED)) return server;
    const before = current.find(({ name, url }) => name === server.name && redactText(url) === server.url);
    if (before) return { ...server, url: before.url };
    throw new RequestError("invalid_request", `mcp_servers[${index}].url: it contains the placeholder ${REDACTED}.`, {
      fix: "Send the URL with its password, or leave it unchanged.",
    });
  });
}
