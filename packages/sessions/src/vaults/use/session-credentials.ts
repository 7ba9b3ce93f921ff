import type { McpAuthorization } from "@tandem/claude-code";
import type { VaultReader, ReadCredential } from "../vault-reader.ts";
import { isVariable, openSessionVariables, type SessionVariables } from "./session-variables.ts";
import { type TokenRefresher, isOAuth } from "./token-refresher.ts";
import { sameServer } from "../same-server.ts";

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

/**
 * The token of an MCP server for a session with these vaults. The first vault with a match wins. Credentials are read for each
 * request, because they are added, replaced and archived while a session runs.
 */
function mcpAuthorization(
  vaultIds: readonly string[],
  url: string,
  { reader, refresher }: { reader: VaultReader; refresher: Pick<TokenRefresher, "token"> },
): McpAuthorization {
  const find = async (): Promise<ReadCredential | undefined> => {
    const all = await reader.credentials(vaultIds);
    return all.find(({ auth }) => auth.type !== "environment_variable" && sameServer(auth.mcp_server_url, url));
  };
  const tokenOf = async (credential: ReadCredential): Promise<string | undefined> => {
    if (credential.auth.type === "static_bearer") return reader.open(credential.auth.token);
    const result = await refresher.token(credential);
    // An old token may still work; if not, the server says so.
    return result.type === "gone" ? undefined : result.token;
  };
  return {
    async token() {
      const credential = await find();
      return credential && tokenOf(credential);
    },
    async renew(refused) {
      const credential = await find();
      if (!credential) return undefined;
      if (!isOAuth(credential)) return tokenOf(credential);
      const result = await refresher.token(credential, { refused });
      return result.type === "token" ? result.token : undefined;
    },
  };
}
