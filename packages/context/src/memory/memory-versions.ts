import {
  memoryVersion,
  type MemoryVersion,
  type MemoryVersionQuery,
  newId,
  RequestError,
  type VersionActor,
} from "@tandem/protocol";
import { deleteRecords, recordPages, type RecordChange, type Records } from "@tandem/storage";
import { z } from "zod";

/** Last recorded version of a memory. */
const head = z.strictObject({ store: z.string(), version: z.string(), path: z.string(), sha256: z.string() });

/** A memory as it is now. */
export interface CurrentMemory {
  id: string;
  store: string;
  path: string;
  content: string;
  sha256: string;
  /** The session it came from, if it is new. */
  session?: string;
}

const VERSION = "memory-version";
const HEAD = "memory-head";
const PAGE = 100;

/**
 * Version history of memories, by store. Changes over the API are recorded at once with their actor. Changes in the
 * folder are detected on the next read, as one version without an author.
 */
export class MemoryVersions {
  readonly #records: Records;
  readonly #space: string;
  readonly #now: () => Date;
  #last = 0;

  constructor(records: Records, space: string, now: () => Date) {
    this.#records = records;
    this.#space = space;
    this.#now = now;
  }

  /** The current version; records an unrecorded change. */
  async note(memory: CurrentMemory, by?: VersionActor): Promise<string> {
    const stored = await this.#records.get(this.#space, HEAD, memory.id);
    const known = stored && head.parse(stored.value);
    if (known && isAt(known, memory)) return known.version;
    const { id, store, path, content, sha256, session } = memory;
    const author = by ?? (!known && session !== undefined ? { type: "session" as const, id: session } : null);
    const operation = known ? "modified" : "created";
    const version = this.#version({ memory: id, store, operation, path, content, sha256, createdBy: author });
    const value: z.output<typeof head> = { store, version: version.id, path, sha256 };
    return this.#write([put(version), { type: "put", kind: HEAD, key: id, value, version: stored?.version ?? 0 }], () =>
      this.note(memory, by),
    ).then((again) => again ?? version.id);
  }

  /** Records a deletion. */
  async noteGone(id: string, by?: VersionActor): Promise<void> {
    const stored = await this.#records.get(this.#space, HEAD, id);
    if (!stored) return;
    const { store, path } = head.parse(stored.value);
    const nothing = { content: null, sha256: null };
    const version = this.#version({ memory: id, store, operation: "deleted", path, ...nothing, createdBy: by ?? null });
    // Race: another process has recorded the deletion already.
    const again = { ...head.parse(stored.value), version: version.id };
    await this.#write(
      [
        { type: "put", kind: HEAD, key: id, value: again, version: stored.version },
        { type: "delete", kind: HEAD, key: id },
        put(version),
      ],
      async () => "",
    );
  }

  /** Records all unrecorded changes of a store. */
  async catchUp(store: string, memories: readonly CurrentMemory[]): Promise<Map<string, string>> {
    const versions = new Map<string, string>();
    const heads = await this.#heads();
    for (const memory of memories) {
      const known = heads.get(memory.id);
      versions.set(memory.id, known && isAt(known, memory) ? known.version : await this.note(memory));
    }
    for (const [id, known] of heads) if (known.store === store && !versions.has(id)) await this.noteGone(id);
    return versions;
  }

  async get(store: string, id: string): Promise<MemoryVersion> {
    const stored = await this.#records.get(this.#space, VERSION, keyOf(store, id));
    if (stored) return memoryVersion.parse(stored.value);
    throw new RequestError("not_found", `There is no memory version ${id} in ${store}.`);
  }

  /** Newest first, starting after `after`, at most `limit` matches. */
  async list(store: string, { limit, after, wants }: MemoryVersionQuery): Promise<MemoryVersion[]> {
    const found: MemoryVersion[] = [];
    const from = after && keyOf(store, after);
    const range = { prefix: keyOf(store, ""), order: "desc" as const, after: from, pageSize: PAGE };
    for await (const page of recordPages(this.#records, this.#space, VERSION, range)) {
      for (const { value } of page) {
        const version = memoryVersion.parse(value);
        if (wants(version)) found.push(version);
        if (found.length === limit) return found;
      }
    }
    return found;
  }

  /** Permanently removes a version's content. The current version must be changed first. */
  async redact(store: string, id: string, by: VersionActor): Promise<MemoryVersion> {
    const version = await this.get(store, id);
    if (version.redactedAt !== null) return version;
    const stored = await this.#records.get(this.#space, HEAD, version.memory);
    if (stored && head.parse(stored.value).version === id) {
      throw new RequestError(
        "invalid_request",
        `This is the current version of ${version.memory}, where it can still be read.`,
        {
          fix: "Change or delete the memory first, then redact this version.",
        },
      );
    }
    const nothing = { path: null, content: null, sha256: null };
    const redacted = { ...version, ...nothing, redactedAt: this.#now().toISOString(), redactedBy: by };
    await this.#records.write(this.#space, [put(redacted)]);
    return redacted;
  }

  /** A deleted store keeps no history. */
  async forget(store: string): Promise<void> {
    await deleteRecords(this.#records, this.#space, VERSION, { prefix: keyOf(store, ""), pageSize: PAGE });
    const heads = [...(await this.#heads())].filter(([, known]) => known.store === store);
    if (heads.length > 0) {
      await this.#records.write(
        this.#space,
        heads.map(([key]) => ({ type: "delete", kind: HEAD, key })),
      );
    }
  }

  async #heads(): Promise<Map<string, z.output<typeof head>>> {
    const heads = new Map<string, z.output<typeof head>>();
    for await (const page of recordPages(this.#records, this.#space, HEAD)) {
      for (const { key, value } of page) heads.set(key, head.parse(value));
    }
    return heads;
  }

  #version(said: Omit<MemoryVersion, "id" | "createdAt" | "redactedAt" | "redactedBy">): MemoryVersion {
    // Ids sort by time, so times must be unique.
    this.#last = Math.max(this.#now().getTime(), this.#last + 1);
    const createdAt = new Date(this.#last).toISOString();
    return { id: newId("memoryVersion", this.#last), ...said, createdAt, redactedAt: null, redactedBy: null };
  }

  /** Undefined if written; the result of `otherwise` if another process won the race. */
  async #write(changes: readonly RecordChange[], otherwise: () => Promise<string>): Promise<string | undefined> {
    try {
      await this.#records.write(this.#space, changes);
      return undefined;
    } catch (error) {
      if (error instanceof RequestError && error.code === "conflict") return otherwise();
      throw error;
    }
  }
}

const keyOf = (store: string, id: string): string => `${store}/${id}`;
const put = (version: MemoryVersion): RecordChange => ({
  type: "put",
  kind: VERSION,
  key: keyOf(version.store, version.id),
  value: version,
});
const isAt = (known: z.output<typeof head>, { store, path, sha256 }: CurrentMemory): boolean =>
  known.store === store && known.path === path && known.sha256 === sha256;
