import { z } from "zod";
import { VERSION_OPERATIONS } from "../api/context/memory-versions.ts";

/** A named container of memories. */
export const memoryStoreRecord = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  metadata: z.record(z.string(), z.string()),
  createdAt: z.string(),
  updatedAt: z.string(),
  archivedAt: z.string().nullable(),
});
export type MemoryStoreRecord = z.output<typeof memoryStoreRecord>;

/** The actor of a change, if known. */
const actor = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("token"), id: z.string() }),
  z.strictObject({ type: z.literal("session"), id: z.string() }),
]);
export type VersionActor = z.output<typeof actor>;

/** One change of a memory. Redacted and deleted versions have no content; redacted ones have no path either. */
export const memoryVersion = z.strictObject({
  id: z.string(),
  memory: z.string(),
  store: z.string(),
  operation: z.enum(VERSION_OPERATIONS),
  path: z.string().nullable(),
  content: z.string().nullable(),
  sha256: z.string().nullable(),
  createdAt: z.string(),
  createdBy: actor.nullable(),
  redactedAt: z.string().nullable(),
  redactedBy: actor.nullable(),
});
export type MemoryVersion = z.output<typeof memoryVersion>;

/** A memory without its text. */
export interface StoreEntry {
  id: string;
  path: string;
  sha256: string;
  bytes: number;
  /** Current version. */
  version: string;
  createdAt: string;
  updatedAt: string;
}

/** A memory: text at a path. */
export interface FullEntry extends StoreEntry {
  content: string;
}

/** The writer: a name for people, and the actor for the version. */
export interface MemoryWriter {
  by: string;
  actor?: VersionActor;
}

export interface MemoryVersionQuery {
  limit: number;
  /** The last version of the page before. */
  after?: string;
  wants: (version: MemoryVersion) => boolean;
}

/** The memories of stores. Rejects with `not_found` for an unknown store or memory. */
export interface StoreMemories {
  /** Sorted by path. */
  entries(store: string): Promise<StoreEntry[]>;
  /** The same entries with their texts, as they were at these versions. */
  withContent(store: string, entries: readonly StoreEntry[]): Promise<FullEntry[]>;
  entry(store: string, id: string): Promise<FullEntry>;
  /** Rejects with `MemoryPathConflict` if the path is taken. */
  add(store: string, memory: MemoryWriter & { path: string; content: string }): Promise<FullEntry>;
  /** `expected` is the hash of the content that the caller has seen; another one is a `MemoryPreconditionFailed`. */
  change(
    store: string,
    id: string,
    change: MemoryWriter & { path?: string; content?: string; expected?: string },
  ): Promise<FullEntry>;
  remove(store: string, id: string, writer: MemoryWriter & { expected?: string }): Promise<void>;
  /** Newest first. */
  versions(store: string, query: MemoryVersionQuery): Promise<MemoryVersion[]>;
  version(store: string, id: string): Promise<MemoryVersion>;
  /** Permanently removes a former version's text. */
  redact(store: string, id: string, by: VersionActor): Promise<MemoryVersion>;
}
