import type { McpAuthorization } from "@tandem/claude-code";
import type { VaultReader } from "../vault-reader.ts";
import { mcpAuthorization } from "./mcp-authorization.ts";
import { isVariable, openSessionVariables, type SessionVariables } from "./session-variables.ts";
import type { TokenRefresher } from "./token-refresher.ts";

/** The credentials of sessions' vaults, for their processes. */
export interface SessionCredentials {
  /** The token of an MCP server; undefined if the session has no vaults. */
  authorizationFor(vaultIds: readonly string[], url: string): McpAuthorization | undefined;
  /** Undefined if the vaults have no variables. `hide` gets each value that is read. */
  openVariables(vaultIds: readonly string[], hide: (secret: string) => void): Promise<SessionVariables | undefined>;
  hasVariables(vaultIds: readonly string[]): Promise<boolean>;
}

export function sessionCredentials(reader: VaultReader, refresher: Pick<TokenRefresher, "token">): SessionCredentials {
  return {
    authorizationFor: (vaultIds, url) =>
      vaultIds.length === 0 ? undefined : mcpAuthorization(vaultIds, url, { reader, refresher }),
    openVariables: (vaultIds, hide) => openSessionVariables(vaultIds, reader, hide),
    hasVariables: async (vaultIds) => (await reader.credentials(vaultIds)).some(isVariable),
  };
}
