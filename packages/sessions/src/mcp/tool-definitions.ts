import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { McpTool } from "@tandem/claude-code";
import { canonicalJson, redactText, RequestError, type KnownMcpServer, isoNow, type Clock } from "@tandem/protocol";
import type { Records } from "@tandem/storage";
import { z } from "zod";

const SPACE = "tandem";
const KIND = "mcp_server";
const MOST = 1_000;

const definitions = z.object({
  hash: z.string(),
  tools: z.array(
    z.object({
      name: z.string(),
      description: z.string().optional(),
      inputSchema: z.looseObject({ type: z.literal("object") }),
      annotations: z.looseObject({}).optional(),
    }),
  ),
  at: z.string(),
});
const kept = z.object({
  name: z.string(),
  origin: z.string(),
  accepted: definitions.extend({ by: z.string() }),
  seen: definitions,
});
type Kept = z.infer<typeof kept>;

/** MCP servers that sessions have connected to, with their complete tools. */
export interface McpServers {
  list(): Promise<KnownMcpServer[]>;
  get(id: string): Promise<KnownMcpServer>;
  /** Accepts the current definitions, if they still match the `hash` that the person read. */
  accept(id: string, hash: string, by: string): Promise<KnownMcpServer>;
}

/** The accepted tools of a server, and differences from them. */
export interface Judged {
  id: string;
  tools: readonly McpTool[];
  changes: readonly string[];
}

/**
 * The exact tool definitions of MCP servers. The first definitions of a server are accepted as they are: a person named it in
 * an agent or trusted its folder. From then on the model sees only accepted definitions, and calls of a changed server ask
 * until a person accepts the change.
 */
export class ToolDefinitions {
  readonly #records: Records;
  readonly #clock: Clock;
  readonly #listeners = new Set<(id: string) => void>();

  constructor(records: Records, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  async judge(server: { name: string; origin: string }, tools: readonly McpTool[]): Promise<Judged> {
    const id = idOf(server.origin);
    const seen = defined(tools, isoNow(this.#clock));
    const { value, version } = await this.#read(id);
    if (!value) {
      await this.#note(id, { ...server, accepted: { ...seen, by: "first met" }, seen }, 0);
      return { id, tools, changes: [] };
    }
    if (value.seen.hash !== seen.hash) await this.#note(id, { ...value, name: server.name, seen }, version);
    const known = value.accepted.tools;
    const there = new Set(tools.map(({ name }) => name));
    const changes = value.accepted.hash === seen.hash ? [] : describeChanges(known, tools);
    return { id, tools: known.filter(({ name }) => there.has(name)), changes };
  }

  async list(): Promise<KnownMcpServer[]> {
    const rows = await this.#records.list(SPACE, KIND, { limit: MOST });
    return rows.map(({ key, value }) => view(key, kept.parse(value)));
  }

  async get(id: string): Promise<KnownMcpServer> {
    const { value } = await this.#read(id);
    if (!value) throw new RequestError("not_found", `There is no MCP server ${id}.`);
    return view(id, value);
  }

  /** Accepts the current definitions, if they still match the `hash` that the person read. */
  async accept(id: string, hash: string, by: string): Promise<KnownMcpServer> {
    const { value, version } = await this.#read(id);
    if (!value) throw new RequestError("not_found", `There is no MCP server ${id}.`);
    if (value.seen.hash !== hash) {
      throw new RequestError("conflict", "The server's tools are not what you have read: they have changed since.", {
        fix: "Read them again, and accept what they are now.",
      });
    }
    const accepted = { ...value, accepted: { ...value.seen, at: isoNow(this.#clock), by } };
    await this.#write(id, accepted, version);
    for (const listener of this.#listeners) listener(id);
    return view(id, accepted);
  }

  /** Called when a person accepts a server's tools. Returns a function that unsubscribes. */
  onAccepted(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #read(id: string): Promise<{ value: Kept | undefined; version: number }> {
    const row = await this.#records.get(SPACE, KIND, id);
    return { value: row && kept.parse(row.value), version: row?.version ?? 0 };
  }

  #write(id: string, value: Kept, version: number): Promise<void> {
    return this.#records.write(SPACE, [{ type: "put", kind: KIND, key: id, value, version }]);
  }

  async #note(id: string, value: Kept, version: number): Promise<void> {
    try {
      await this.#write(id, value, version);
    } catch (error) {
      // Another session met the same server first and wrote the same record.
      if (!(error instanceof RequestError) || error.code !== "conflict") throw error;
    }
  }
}

const idOf = (origin: string): string => `mcps_${createHash("sha256").update(origin).digest("hex").slice(0, 20)}`;

function defined(tools: readonly McpTool[], at: string): Kept["seen"] {
  const sorted = [...tools].sort((a, b) => (a.name < b.name ? -1 : 1));
  const hash = createHash("sha256").update(canonicalJson(sorted)).digest("hex");
  return { hash, tools: sorted, at };
}

const view = (id: string, { name, origin, accepted, seen }: Kept): KnownMcpServer => ({
  id,
  name,
  origin: redactText(origin),
  hash: seen.hash,
  tools: seen.tools,
  accepted: { hash: accepted.hash, at: accepted.at, by: accepted.by },
  changes: accepted.hash === seen.hash ? [] : describeChanges(accepted.tools, seen.tools),
});

const LONGEST = 300;

/** Describes the differences between two definitions of a server's tools, one line each. */
function describeChanges(before: readonly McpTool[], after: readonly McpTool[]): string[] {
  const known = new Map(before.map((tool) => [tool.name, tool]));
  const changes: string[] = [];
  for (const tool of after) {
    const old = known.get(tool.name);
    known.delete(tool.name);
    if (!old) {
      changes.push(`${tool.name} is new: ${quoted(tool.description)}`);
      continue;
    }
    if (old.description !== tool.description) {
      changes.push(`${tool.name} is described as ${quoted(tool.description)}, not as ${quoted(old.description)}`);
    }
    if (!isDeepStrictEqual(old.inputSchema, tool.inputSchema)) changes.push(`${tool.name} has another input schema`);
    if (!isDeepStrictEqual(old.annotations, tool.annotations)) changes.push(`${tool.name} has other annotations`);
  }
  for (const name of known.keys()) changes.push(`${name} was removed`);
  return changes;
}

const quoted = (text = ""): string => JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
