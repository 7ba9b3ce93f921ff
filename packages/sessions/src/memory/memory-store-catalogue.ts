import {
  memoryStoreRecord,
  type MemoryStoreRecord,
  newId,
  RequestError,
  type StoreMemories,
  type Clock,
} from "@tandem/protocol";
import type { RecordChange, Records } from "@tandem/storage";
import { tryWrite } from "../host/until-written.ts";
import type { ContextMemories, MemorySettings, MemoryStores } from "./memory-stores.ts";
import { RecordMemories, SPACE } from "./record-memories.ts";

const KIND = "memory-store";
const MOST = 1_000;

/** A store as kept. One with `deletedAt` is gone for all readers; its memories are being deleted. */
const keptStore = memoryStoreRecord.extend({ deletedAt: memoryStoreRecord.shape.archivedAt.optional() });

/** The stores that programs created, on records, and that of the context, if there is one. */
export class MemoryStoreCatalogue implements MemoryStores {
  readonly #records: Records;
  readonly #clock: Pick<Clock, "now">;
  readonly #own: () => ContextMemories | undefined;
  readonly #memories: RecordMemories;

  constructor(records: Records, { clock, contextMemories }: MemorySettings & { clock: Pick<Clock, "now"> }) {
    this.#records = records;
    this.#clock = clock;
    this.#own = contextMemories ?? (() => undefined);
    this.#memories = new RecordMemories(records, clock);
  }

  async list({ includeArchived }: { includeArchived: boolean }): Promise<MemoryStoreRecord[]> {
    const stored = await this.#records.list(SPACE, KIND, { limit: MOST, order: "desc" });
    const kept = stored.map(({ value }) => keptStore.parse(value));
    // Finishes deletions that a crash interrupted.
    for (const { id, deletedAt } of kept) if (deletedAt) await this.#purge(id);
    const stores = kept.filter(({ deletedAt }) => !deletedAt);
    const own = this.#own();
    return [...stores, ...(own ? [await own.get(own.ownId)] : [])].filter(
      ({ archivedAt }) => includeArchived || archivedAt === null,
    );
  }

  async get(id: string): Promise<MemoryStoreRecord> {
    return this.#ownOf(id)?.get(id) ?? (await this.#kept(id)).store;
  }

  async create(given: Pick<MemoryStoreRecord, "name" | "description" | "metadata">): Promise<MemoryStoreRecord> {
    const at = new Date(this.#clock.now()).toISOString();
    const id = newId("memoryStore", this.#clock.now());
    const store = { id, ...given, createdAt: at, updatedAt: at, archivedAt: null };
    await this.#records.write(SPACE, [{ type: "put", kind: KIND, key: id, value: store, version: 0 }], {
      announce: [{ type: "memory_store.created", id }],
    });
    return store;
  }

  async update(
    id: string,
    change: Partial<Pick<MemoryStoreRecord, "name" | "description" | "metadata">>,
  ): Promise<MemoryStoreRecord> {
    const own = this.#ownOf(id);
    if (own) return own.update(id, change);
    const { store, version } = await this.#kept(id);
    refuseArchived(store);
    const value = { ...store, ...change, updatedAt: new Date(this.#clock.now()).toISOString() };
    await this.#records.write(SPACE, [{ type: "put", kind: KIND, key: id, value, version }]);
    return value;
  }

  async archive(id: string): Promise<MemoryStoreRecord> {
    if (this.#ownOf(id)) throw ownStays("archived");
    const { store, version } = await this.#kept(id);
    if (store.archivedAt !== null) return store;
    const at = new Date(this.#clock.now()).toISOString();
    const value = { ...store, updatedAt: at, archivedAt: at };
    await this.#records.write(SPACE, [{ type: "put", kind: KIND, key: id, value, version }], {
      announce: [{ type: "memory_store.archived", id }],
    });
    return value;
  }

  async delete(id: string): Promise<void> {
    if (this.#ownOf(id)) throw ownStays("deleted");
    const { store, version } = await this.#kept(id);
    const value = { ...store, deletedAt: new Date(this.#clock.now()).toISOString() };
    await this.#records.write(SPACE, [{ type: "put", kind: KIND, key: id, value, version }], {
      announce: [{ type: "memory_store.deleted", id }],
    });
    await this.#purge(id);
  }

  readonly entries: StoreMemories["entries"] = async (id) => (await this.#of(id)).entries(id);
  readonly withContent: StoreMemories["withContent"] = async (id, entries) =>
    (await this.#of(id)).withContent(id, entries);
  readonly entry: StoreMemories["entry"] = async (id, memory) => (await this.#of(id)).entry(id, memory);
  readonly add: StoreMemories["add"] = async (id, memory) => (await this.#writable(id)).add(id, memory);
  readonly change: StoreMemories["change"] = async (id, memory, change) =>
    (await this.#writable(id)).change(id, memory, change);
  readonly remove: StoreMemories["remove"] = async (id, memory, writer) =>
    (await this.#of(id)).remove(id, memory, writer);
  readonly versions: StoreMemories["versions"] = async (id, query) => (await this.#of(id)).versions(id, query);
  readonly version: StoreMemories["version"] = async (id, version) => (await this.#of(id)).version(id, version);
  readonly redact: StoreMemories["redact"] = async (id, version, by) => (await this.#of(id)).redact(id, version, by);

  async adoptFormer(): Promise<void> {
    const own = this.#own();
    for (const store of (await own?.former()) ?? []) {
      const entries = await own!.entries(store.id);
      const versions = await own!.versions(store.id, { limit: Infinity, wants: () => true });
      const changes: RecordChange[] = [
        { type: "put", kind: KIND, key: store.id, value: store, version: 0 },
        ...RecordMemories.imported(store.id, entries, versions),
      ];
      // Fails if a crash before `forget`, or another process, has left it here already.
      await tryWrite(this.#records.write(SPACE, changes));
      await own!.forget(store.id, "tandem");
    }
  }

  #ownOf(id: string): ContextMemories | undefined {
    const own = this.#own();
    return own?.ownId === id ? own : undefined;
  }

  async #of(id: string): Promise<StoreMemories> {
    const own = this.#ownOf(id);
    if (own) return own;
    await this.#kept(id);
    return this.#memories;
  }

  async #writable(id: string): Promise<StoreMemories> {
    const own = this.#ownOf(id);
    if (own) return own;
    refuseArchived((await this.#kept(id)).store);
    return this.#memories;
  }

  async #kept(id: string): Promise<{ store: MemoryStoreRecord; version: number }> {
    const stored = await this.#records.get(SPACE, KIND, id);
    const kept = stored && keptStore.parse(stored.value);
    if (!kept || kept.deletedAt) throw new RequestError("not_found", `There is no memory store ${id}.`);
    return { store: kept, version: stored.version };
  }

  async #purge(id: string): Promise<void> {
    await this.#memories.purge(id);
    await this.#records.write(SPACE, [{ type: "delete", kind: KIND, key: id }]);
  }
}

function refuseArchived({ id, archivedAt }: MemoryStoreRecord): void {
  if (archivedAt === null) return;
  throw new RequestError("invalid_request", `The memory store ${id} is archived: it can only be read.`);
}

const ownStays = (what: string): RequestError =>
  new RequestError("forbidden", `The context's own memory store cannot be ${what}.`, {
    fix: "Delete its memories one by one.",
  });
