import { createHash } from "node:crypto";
import type { SessionRow, Store } from "@tandem/storage";

const SPACE = "tandem";
const KIND = "mcp_owner_url";

/**
 * The URLs of MCP servers and repositories that the owner of the server has named. Sessions may connect to them even if their addresses are
 * private. Other URLs may come from a token that may only run sessions, so that they must not reach this machine's network.
 */
export class OwnerUrls {
  readonly #store: Pick<Store, "agents" | "records">;

  constructor(store: Pick<Store, "agents" | "records">) {
    this.#store = store;
  }

  /** Remembers URLs that an admin names in a session. Only hashes are stored, because a URL may contain a password. */
  async add(urls: readonly string[]): Promise<void> {
    const changes = urls.map((url) => ({ type: "put" as const, kind: KIND, key: keyOf(url), value: {} }));
    if (changes.length > 0) await this.#store.records.write(SPACE, changes);
  }

  async has(url: string): Promise<boolean> {
    return (await this.#store.records.get(SPACE, KIND, keyOf(url))) !== undefined;
  }

  /** The URLs of a session's agent that the owner has named. Only admins create agents, so a stored agent's URLs count. */
  async among({ agent }: Pick<SessionRow, "agent">): Promise<ReadonlySet<string>> {
    if (agent.mcp_servers.length === 0) return new Set();
    const stored = await this.#store.agents.get(agent.id, agent.version);
    const named = new Set(stored?.mcp_servers.map(({ url }) => url));
    for (const { url } of agent.mcp_servers) {
      if (!named.has(url) && (await this.#store.records.get(SPACE, KIND, keyOf(url)))) named.add(url);
    }
    return named;
  }
}

const keyOf = (url: string): string => createHash("sha256").update(url).digest("hex");
