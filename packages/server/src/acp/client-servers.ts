import { createHash } from "node:crypto";
import type { ServerPlace } from "@tandem/sessions";

/** An MCP server that a client brings along for a session of its own. */
export type ClientServer = { name: string } & (
  | { type: "stdio"; command: string; args: readonly string[]; variables: Readonly<Record<string, string>> }
  | { type: "http" | "sse"; url: string; headers: Readonly<Record<string, string>> }
);

/**
 * Which MCP servers clients have named for which sessions. Their variables and headers are secrets as often as not: they are
 * kept here, in memory, and nowhere else. Give `of` to the engine as `sessionServers`.
 */
export class ClientServers {
  readonly #bySession = new Map<string, readonly ServerPlace[]>();

  /**
   * From now on these, in place of those before: with the session's next process. Returns what takes them back, and nothing
   * else: a connection that is found dead late must not take along what its client has brought again on the next one.
   */
  bring(session: string, folder: string, servers: readonly ClientServer[]): () => void {
    const brought = servers.map((server) => placeOf(server, folder));
    this.#bySession.set(session, brought);
    return () => {
      if (this.#bySession.get(session) === brought) this.#bySession.delete(session);
    };
  }

  of(session: string): readonly ServerPlace[] {
    return this.#bySession.get(session) ?? [];
  }
}

function placeOf(server: ClientServer, folder: string): ServerPlace {
  const { name } = server;
  if (server.type === "stdio") {
    const { command, args, variables } = server;
    const place = { type: "stdio" as const, command, args: [...args], variables: { ...variables }, folder };
    return { name, origin: originOf(name, [command, ...args]), place };
  }
  const { type, url, headers } = server;
  return { name, origin: originOf(name, [url]), place: { type, url, headers } };
}

/** What the server is known by across sessions. Arguments and addresses may hold a secret: only their hash is kept. */
function originOf(name: string, words: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify(words)).digest("hex");
  return `client:${name}:${hash.slice(0, 16)}`;
}
