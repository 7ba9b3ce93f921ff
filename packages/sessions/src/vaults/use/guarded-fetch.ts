/** Sends one request without following redirects. Rejects if the address must not be reached from here. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * The address rules of MCP servers. Only admins name URLs in vaults; those of tenants are not the owner of the server, so with
 * `publicOnly` no URL may lead to this machine or its network.
 */
export function guardedFetch(publicOnly: boolean): GuardedFetch {
  let opened: Promise<{ fetch: GuardedFetch }> | undefined;
  return async (url, init) => {
    opened ??= import("@tandem/claude-code").then(({ createMcpFetch }) => createMcpFetch(publicOnly));
    return (await opened).fetch(url, init);
  };
}
