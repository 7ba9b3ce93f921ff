import { createHash } from "node:crypto";
import {
  checkMemoryPath,
  type FullEntry,
  MemoryPathConflict,
  memoryPathsOverlap,
  MemoryPreconditionFailed,
  memoryVersion,
  type MemoryVersion,
  type MemoryVersionQuery,
  type MemoryWriter,
  newId,
  RequestError,
  type StoreEntry,
  type StoreMemories,
  type VersionActor,
  type Clock,
} from "@tandem/protocol";
import { deleteRecords, recordPages, type RecordChange, type Records } from "@tandem/storage";
import { z } from "zod";

/** Of the memories of all stores that programs created. */
export const SPACE = "memory-stores";
const INDEX = "memory-index";
const VERSION = "memory-version";
const PAGE = 100;
const MAX_MEMORIES = 2_000;
/** Each lost race means that another writer has written. */
const MAX_TRIES = 100;

/** A store's memories as they are now. Their texts are those of their versions. */
const memoryIndex = z.strictObject({
  /** Time of the last version, so that the ids of versions sort by time. */
  lastAt: z.number(),
  entries: z.array(
    z.strictObject({
      id: z.string(),
      path: z.string(),
      sha256: z.string(),
      bytes: z.number(),
      version: z.string(),
      createdAt: z.string(),
      updatedAt: z.string(),
    }),
  ),
});
type MemoryIndex = z.output<typeof memoryIndex>;

/** A change of one memory. `before` is missing when the memory is created; `content` is null when it is deleted. */
interface Edit {
  memory: string;
  operation: MemoryVersion["operation"];
  path: string;
  content: string | null;
  before?: StoreEntry;
}

/**
 * Memories on records. One index record per store is written with its expected version, in the transaction of the new
 * version of a memory: writers of several processes are serialized by it, and a crash leaves no half of a change.
 */
export class RecordMemories implements StoreMemories {
  readonly #records: Records;
  readonly #clock: Pick<Clock, "now">;

  constructor(records: Records, clock: Pick<Clock, "now">) {
    this.#records = records;
    this.#clock = clock;
  }

  async entries(store: string): Promise<StoreEntry[]> {
    return (await this.#index(store)).index.entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  async withContent(store: string, entries: readonly StoreEntry[]): Promise<FullEntry[]> {
    const keys = entries.map(({ version }) => keyOf(store, version));
    const found = await this.#records.getMany(SPACE, VERSION, keys);
    const texts = new Map(found.map(({ key, value }) => [key, memoryVersion.parse(value).content]));
    return entries.map((entry) => ({ ...entry, content: texts.get(keyOf(store, entry.version)) ?? "" }));
  }

  async entry(store: string, id: string): Promise<FullEntry> {
    const [entry] = await this.withContent(store, [find((await this.#index(store)).index, store, id)]);
    return entry!;
  }

  async add(store: string, { path, content, actor }: MemoryWriter & { path: string; content: string }) {
    checkMemoryPath(path);
    const memory = newId("memory", this.#clock.now());
    return this.#edit(store, actor, (index) => {
      if (index.entries.length >= MAX_MEMORIES) {
        throw new RequestError("invalid_request", `The memory store ${store} has ${MAX_MEMORIES} memories already.`, {
          fix: "Delete some, or create another store.",
        });
      }
      refuseOverlap(index, path);
      return { memory, operation: "created", path, content };
    });
  }

  async change(
    store: string,
    id: string,
    { path, content, expected, actor }: MemoryWriter & { path?: string; content?: string; expected?: string },
  ): Promise<FullEntry> {
    if (path !== undefined) checkMemoryPath(path);
    return this.#edit(store, actor, async (index) => {
      const [before] = await this.withContent(store, [find(index, store, id)]);
      const wanted = { path: path ?? before!.path, content: content ?? before!.content };
      // Content that is already as requested is no conflict.
      if (wanted.path === before!.path && wanted.content === before!.content) return before!;
      if (expected !== undefined && expected !== before!.sha256) throw new MemoryPreconditionFailed();
      if (wanted.path !== before!.path) refuseOverlap(index, wanted.path, id);
      return { memory: id, operation: "modified", ...wanted, before: before! };
    });
  }

  async remove(store: string, id: string, { expected, actor }: MemoryWriter & { expected?: string }): Promise<void> {
    await this.#edit(store, actor, (index) => {
      const before = find(index, store, id);
      if (expected !== undefined && expected !== before.sha256) throw new MemoryPreconditionFailed();
      return { memory: id, operation: "deleted", path: before.path, content: null, before };
    });
  }

  async versions(store: string, { limit, after, wants }: MemoryVersionQuery): Promise<MemoryVersion[]> {
    const found: MemoryVersion[] = [];
    const from = after && keyOf(store, after);
    const range = { prefix: keyOf(store, ""), order: "desc" as const, after: from, pageSize: PAGE };
    for await (const page of recordPages(this.#records, SPACE, VERSION, range)) {
      for (const { value } of page) {
        const version = memoryVersion.parse(value);
        if (wants(version)) found.push(version);
        if (found.length === limit) return found;
      }
    }
    return found;
  }

  async version(store: string, id: string): Promise<MemoryVersion> {
    const stored = await this.#records.get(SPACE, VERSION, keyOf(store, id));
    if (stored) return memoryVersion.parse(stored.value);
    throw new RequestError("not_found", `There is no memory version ${id} in ${store}.`);
  }

  async redact(store: string, id: string, by: VersionActor): Promise<MemoryVersion> {
    const version = await this.version(store, id);
    if (version.redactedAt !== null) return version;
    // A version that is not the current one never becomes it again.
    if ((await this.#index(store)).index.entries.some((entry) => entry.version === id)) {
      throw new RequestError(
        "invalid_request",
        `This is the current version of ${version.memory}, where it can still be read.`,
        {
          fix: "Change or delete the memory first, then redact this version.",
        },
      );
    }
    const nothing = { path: null, content: null, sha256: null };
    const redactedAt = new Date(this.#clock.now()).toISOString();
    const redacted = { ...version, ...nothing, redactedAt, redactedBy: by };
    await this.#records.write(SPACE, [putVersion(redacted)]);
    return redacted;
  }

  /** Deletes all memories and versions of a store that no reader finds any more. Safe to repeat. */
  async purge(store: string): Promise<void> {
    await this.#records.write(SPACE, [{ type: "delete", kind: INDEX, key: store }]);
    await deleteRecords(this.#records, SPACE, VERSION, { prefix: keyOf(store, ""), pageSize: PAGE });
  }

  /** The records of a store that was kept elsewhere. */
  static imported(store: string, entries: readonly StoreEntry[], versions: readonly MemoryVersion[]): RecordChange[] {
    const lastAt = Math.max(0, ...versions.map(({ createdAt }) => Date.parse(createdAt)));
    return [...versions.map(putVersion), putIndex(store, { lastAt, entries: entries.map(withoutText) }, 0)];
  }

  /** Applies an edit of the current state, again if another writer was faster. An entry is returned unchanged. */
  async #edit(
    store: string,
    actor: VersionActor | undefined,
    decide: (index: MemoryIndex) => Edit | FullEntry | Promise<Edit | FullEntry>,
  ): Promise<FullEntry> {
    for (let tries = 0; ; tries += 1) {
      const { index, version: stored } = await this.#index(store);
      const edit = await decide(index);
      if (!("operation" in edit)) return edit;
      const lastAt = Math.max(this.#clock.now(), index.lastAt + 1);
      const version = versionOf(store, edit, lastAt, actor);
      const others = index.entries.filter(({ id }) => id !== edit.memory);
      const entry = entryOf(edit, version);
      const entries = edit.operation === "deleted" ? others : [...others, withoutText(entry)];
      try {
        await this.#records.write(SPACE, [putIndex(store, { lastAt, entries }, stored), putVersion(version)]);
        return entry;
      } catch (error) {
        if (tries >= MAX_TRIES || !(error instanceof RequestError && error.code === "conflict")) throw error;
      }
    }
  }

  async #index(store: string): Promise<{ index: MemoryIndex; version: number }> {
    const stored = await this.#records.get(SPACE, INDEX, store);
    if (!stored) return { index: { lastAt: 0, entries: [] }, version: 0 };
    return { index: memoryIndex.parse(stored.value), version: stored.version };
  }
}

function find(index: MemoryIndex, store: string, id: string): StoreEntry {
  const entry = index.entries.find((candidate) => candidate.id === id);
  if (entry) return entry;
  throw new RequestError("not_found", `There is no memory ${id} in ${store}.`);
}

function refuseOverlap({ entries }: MemoryIndex, path: string, self?: string): void {
  const other = entries.find((entry) => entry.id !== self && memoryPathsOverlap(entry.path, path));
  if (other) throw new MemoryPathConflict(other);
}

function versionOf(store: string, edit: Edit, at: number, actor: VersionActor | undefined): MemoryVersion {
  const { memory, operation, path, content } = edit;
  return {
    id: newId("memoryVersion", at),
    memory,
    store,
    operation,
    path,
    content,
    sha256: content === null ? null : createHash("sha256").update(content).digest("hex"),
    createdAt: new Date(at).toISOString(),
    createdBy: actor ?? null,
    redactedAt: null,
    redactedBy: null,
  };
}

function entryOf({ memory, path, content, before }: Edit, version: MemoryVersion): FullEntry {
  const { id, createdAt: updatedAt, sha256 } = version;
  const createdAt = before?.createdAt ?? updatedAt;
  const text = content ?? "";
  const bytes = Buffer.byteLength(text);
  return { id: memory, path, content: text, sha256: sha256 ?? "", bytes, version: id, createdAt, updatedAt };
}

const withoutText = ({ id, path, sha256, bytes, version, createdAt, updatedAt }: StoreEntry): StoreEntry => ({
  id,
  path,
  sha256,
  bytes,
  version,
  createdAt,
  updatedAt,
});

const keyOf = (store: string, id: string): string => `${store}/${id}`;
const putVersion = (version: MemoryVersion): RecordChange => ({
  type: "put",
  kind: VERSION,
  key: keyOf(version.store, version.id),
  value: version,
});
const putIndex = (store: string, value: MemoryIndex, version: number): RecordChange => ({
  type: "put",
  kind: INDEX,
  key: store,
  value,
  version,
});
