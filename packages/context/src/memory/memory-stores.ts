import { createHash } from "node:crypto";
import {
  checkMemoryPath,
  type FullEntry,
  MemoryPathConflict,
  memoryPathsOverlap,
  MemoryPreconditionFailed,
  memoryStoreRecord,
  type MemoryStoreRecord,
  type MemoryVersion,
  type MemoryVersionQuery,
  type MemoryWriter,
  newId,
  RequestError,
  type StoreEntry,
  type StoreMemories,
  type VersionActor,
} from "@tandem/protocol";
import type { Records } from "@tandem/storage";
import type { Evidence } from "../evidence.ts";
import type { Knowledge } from "../knowledge.ts";
import { draftChange, draftForgetting, draftMemory } from "./draft-memory.ts";
import { Memories, type StoredMemory } from "./memories.ts";
import { type CurrentMemory, MemoryVersions } from "./memory-versions.ts";
import { acceptAtOnce, titleOf } from "./remember.ts";
import type { MemoryFile } from "../formats/memory-file.ts";

const KIND = "memory-store";
const MOST = 1_000;

/**
 * The memories of a context as a store of documents at paths. Writers decide themselves: each write is an accepted
 * proposal. Folders of earlier versions also hold the stores of programs, which `former` lists.
 */
export class MemoryStores implements StoreMemories {
  readonly #context: Pick<Knowledge, "id" | "folder" | "proposals">;
  readonly #records: Records;
  readonly #memories: Memories;
  readonly #versions: MemoryVersions;
  readonly #now: () => Date;

  constructor(parts: { context: Pick<Knowledge, "id" | "folder" | "proposals">; records: Records; now?: () => Date }) {
    this.#context = parts.context;
    this.#records = parts.records;
    this.#memories = new Memories(parts.context.folder);
    this.#now = parts.now ?? (() => new Date());
    this.#versions = new MemoryVersions(parts.records, parts.context.id, this.#now);
  }

  /** Id of the context's own store. */
  get ownId(): string {
    return `memstore_${this.#context.id.slice(this.#context.id.indexOf("_") + 1)}`;
  }

  /** Stores of programs that an earlier version kept in this folder. */
  async former(): Promise<MemoryStoreRecord[]> {
    const stored = await this.#records.list(this.#context.id, KIND, { limit: MOST });
    return stored.map(({ value }) => memoryStoreRecord.parse(value)).filter(({ id }) => id !== this.ownId);
  }

  async get(id: string): Promise<MemoryStoreRecord> {
    const stored = await this.#records.get(this.#context.id, KIND, id);
    if (stored) return memoryStoreRecord.parse(stored.value);
    if (id !== this.ownId) throw new RequestError("not_found", `There is no memory store ${id}.`);
    const log = await this.#memories.all();
    const createdAt = log[0]?.createdAt ?? new Date(0).toISOString();
    const description = "The reviewed memories of this project, found by the people and agents that they are for.";
    return { id, name: "Context", description, metadata: {}, createdAt, updatedAt: createdAt, archivedAt: null };
  }

  async update(id: string, change: Partial<Pick<MemoryStoreRecord, "name" | "description" | "metadata">>) {
    return this.#put({ ...(await this.#open(id)), ...change });
  }

  /** Deletes a former store and all its content; the folder's git history keeps it. */
  async forget(id: string, by: string): Promise<void> {
    const all = await this.#memories.all();
    const evidence = [this.#evidence(by)];
    const drafts = all.filter(({ store }) => store === id).flatMap((memory) => draftForgetting(memory, [], evidence));
    if (drafts.length > 0) await acceptAtOnce(this.#context, `Delete the memory store ${id}`, drafts, by);
    await this.#records.write(this.#context.id, [{ type: "delete", kind: KIND, key: id }]);
    await this.#versions.forget(id);
  }

  /** Sorted by path. */
  async entries(id: string): Promise<FullEntry[]> {
    await this.get(id);
    const all = (await this.#memories.all()).filter((memory) => this.#isIn(memory, id));
    const versions = await this.#versions.catchUp(
      id,
      all.map((memory) => currentOf(memory, id)),
    );
    const entries = all.map((memory) => entryOf(memory, versions.get(memory.id)!));
    return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  async withContent(store: string, entries: readonly StoreEntry[]): Promise<FullEntry[]> {
    const all = new Map((await this.entries(store)).map((entry) => [entry.id, entry]));
    return entries.flatMap(({ id }) => all.get(id) ?? []);
  }

  async entry(store: string, id: string): Promise<FullEntry> {
    await this.get(store);
    return this.#noted(store, id);
  }

  /** All changes of memories in a store, newest first. */
  async versions(store: string, query: MemoryVersionQuery): Promise<MemoryVersion[]> {
    await this.entries(store);
    return this.#versions.list(store, query);
  }

  async version(store: string, id: string): Promise<MemoryVersion> {
    await this.get(store);
    return this.#versions.get(store, id);
  }

  /** Removes a former version's text from the record; the folder's git history keeps it. */
  async redact(store: string, id: string, by: VersionActor): Promise<MemoryVersion> {
    await this.entries(store);
    return this.#versions.redact(store, id, by);
  }

  async add(
    store: string,
    { path, content, by, actor }: MemoryWriter & { path: string; content: string },
  ): Promise<FullEntry> {
    await this.#open(store);
    checkMemoryPath(path);
    return this.#context.folder.exclusive(async () => {
      await this.#refuseOverlap(store, path);
      const at = this.#now();
      const memory = {
        id: newId("memory", at.getTime()),
        scope: "project" as const,
        path,
        text: content,
        tags: [],
        ...(store !== this.ownId && { store }),
        createdAt: at.toISOString(),
        expiresAt: null,
        sources: [this.#evidence(by)],
        contradicts: [],
      };
      await acceptAtOnce(this.#context, titleOf("Remember", content || path), draftMemory(memory, []), by);
      return this.#noted(store, memory.id, actor);
    });
  }

  async change(
    store: string,
    id: string,
    { path, content, expected, by, actor }: MemoryWriter & { path?: string; content?: string; expected?: string },
  ): Promise<FullEntry> {
    await this.#open(store);
    if (path !== undefined) checkMemoryPath(path);
    return this.#context.folder.exclusive(async () => {
      const memory = await this.#find(store, id);
      const entry = await this.#noted(store, id);
      const wanted = { path: path ?? entry.path, content: content ?? entry.content };
      if (wanted.path === entry.path && wanted.content === entry.content) return entry;
      if (expected !== undefined && expected !== entry.sha256) throw new MemoryPreconditionFailed();
      if (wanted.path !== entry.path) await this.#refuseOverlap(store, wanted.path, id);
      const evidence = this.#evidence(by);
      const change = {
        path: wanted.path,
        text: wanted.content,
        updatedAt: this.#now().toISOString(),
        sources: [...memory.sources.filter(({ type }) => type !== "person"), evidence],
      };
      const draft = draftChange(memory, change, [evidence]);
      await acceptAtOnce(this.#context, titleOf("Change", wanted.content || wanted.path), [draft], by);
      return this.#noted(store, id, actor);
    });
  }

  async remove(
    store: string,
    id: string,
    { expected, by, actor }: MemoryWriter & { expected?: string },
  ): Promise<void> {
    await this.get(store);
    await this.#context.folder.exclusive(async () => {
      const memory = await this.#find(store, id);
      const { sha256 } = await this.#noted(store, id);
      if (expected !== undefined && expected !== sha256) throw new MemoryPreconditionFailed();
      const drafts = draftForgetting(memory, await this.#memories.all(), [this.#evidence(by)]);
      await acceptAtOnce(this.#context, titleOf("Forget", memory.text || id), drafts, by);
      await this.#versions.noteGone(id, actor);
    });
  }

  /** The current memory and its version; records the actor of a change just made. */
  async #noted(store: string, id: string, actor?: VersionActor): Promise<FullEntry> {
    const memory = await this.#find(store, id);
    return entryOf(memory, await this.#versions.note(currentOf(memory, store), actor));
  }

  #isIn = (memory: StoredMemory, store: string): boolean => (memory.store ?? this.ownId) === store;

  async #find(store: string, id: string): Promise<StoredMemory> {
    const memory = await this.#memories.get(id);
    if (memory && this.#isIn(memory, store)) return memory;
    throw new RequestError("not_found", `There is no memory ${id} in ${store}.`);
  }

  /** Rejects an archived store. */
  async #open(id: string): Promise<MemoryStoreRecord> {
    const store = await this.get(id);
    if (store.archivedAt === null) return store;
    throw new RequestError("invalid_request", `The memory store ${id} is archived: it can only be read.`);
  }

  async #put(store: MemoryStoreRecord): Promise<MemoryStoreRecord> {
    const value = { ...store, updatedAt: this.#now().toISOString() };
    await this.#records.write(this.#context.id, [{ type: "put", kind: KIND, key: store.id, value }]);
    return value;
  }

  async #refuseOverlap(store: string, path: string, self?: string): Promise<void> {
    const other = (await this.entries(store)).find(
      (entry) => entry.id !== self && memoryPathsOverlap(entry.path, path),
    );
    if (other) throw new MemoryPathConflict(other);
  }

  #evidence(by: string): Evidence {
    return { type: "person", name: by, at: this.#now().toISOString() };
  }
}

const sha256Of = (text: string): string => createHash("sha256").update(text).digest("hex");

function entryOf(memory: StoredMemory, version: string): FullEntry {
  const { id, text: content, createdAt, updatedAt = createdAt } = memory;
  const bytes = Buffer.byteLength(content);
  return { id, path: pathOf(memory), content, sha256: sha256Of(content), bytes, version, createdAt, updatedAt };
}

function currentOf(memory: StoredMemory, store: string): CurrentMemory {
  const { id, text: content, sources } = memory;
  const session = sources.find((source) => source.type === "event")?.session;
  const place = { id, store, path: pathOf(memory), content, sha256: sha256Of(content) };
  return { ...place, ...(session !== undefined && { session }) };
}

/** Path in its store; without an explicit path it is under its scope. */
const pathOf = ({ id, path, scope, agent }: MemoryFile): string =>
  path ?? (scope === "agent" ? `/agent/${(agent ?? "").replaceAll("/", "-") || "-"}/${id}.md` : `/${scope}/${id}.md`);
