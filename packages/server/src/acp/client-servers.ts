import { createHash } from "node:crypto";
import type { SessionMcpServer } from "@tandem/sessions";

/** An MCP server that a client adds to its session. */
export type ClientServer = { name: string } & (
  | { type: "stdio"; command: string; args: readonly string[]; variables: Readonly<Record<string, string>> }
  | { type: "http" | "sse"; url: string; headers: Readonly<Record<string, string>> }
);

/**
 * The MCP servers that clients add to sessions. Their variables and headers often are secrets, so they stay in memory
 * and are never stored. Pass `of` to the engine as `sessionServers`.
 */
export class ClientServers {
  readonly #bySession = new Map<string, readonly SessionMcpServer[]>();

  /**
   * Replaces the session's servers from its next process on. The returned function removes only these: a connection
   * that is detected as dead late must not remove servers that the client's next connection registered.
   */
  bring(
    session: string,
    folder: string,
    servers: readonly ClientServer[],
    { publicOnly }: { publicOnly: boolean },
  ): () => void {
    const brought = servers.map((server) => sessionServerOf(server, folder, publicOnly));
    this.#bySession.set(session, brought);
    return () => {
      if (this.#bySession.get(session) === brought) this.#bySession.delete(session);
    };
  }

  of(session: string): readonly SessionMcpServer[] {
    return this.#bySession.get(session) ?? [];
  }
}

function sessionServerOf(server: ClientServer, folder: string, publicOnly: boolean): SessionMcpServer {
  const { name } = server;
  if (server.type === "stdio") {
    const { command, args, variables } = server;
    const endpoint = { type: "stdio" as const, command, args: [...args], variables: { ...variables }, folder };
    // The client's user has named this program, as the owner does in the configuration.
    const confinement = { type: "sandbox", folder: "write", hosts: "public", mounts: [], seesCommand: true } as const;
    return { name, origin: originOf(name, [command, ...args]), endpoint, confinement };
  }
  const { type, url, headers } = server;
  return { name, origin: originOf(name, [url]), endpoint: { type, url, headers, publicOnly } };
}

/** Identifies the server across sessions. Arguments and addresses may contain secrets, so only their hash is used. */
function originOf(name: string, words: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify(words)).digest("hex");
  return `client:${name}:${hash.slice(0, 16)}`;
}
