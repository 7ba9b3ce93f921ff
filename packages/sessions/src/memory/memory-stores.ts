import type { MemoryStoreRecord, StoreMemories } from "@tandem/protocol";

type Words = Pick<MemoryStoreRecord, "name" | "description" | "metadata">;

/**
 * Memory stores: documents at paths, with versions. Programs use them over the API, and sessions as resources. A write names
 * its author; a precondition on the content's hash keeps two writers from overwriting each other.
 */
export interface MemoryStores extends StoreMemories {
  /** Newest first, the context's own last. */
  list(query: { includeArchived: boolean }): Promise<MemoryStoreRecord[]>;
  get(id: string): Promise<MemoryStoreRecord>;
  create(given: Words): Promise<MemoryStoreRecord>;
  update(id: string, change: Partial<Words>): Promise<MemoryStoreRecord>;
  /** From then on it can only be read and deleted. */
  archive(id: string): Promise<MemoryStoreRecord>;
  /** With all its memories and their versions. */
  delete(id: string): Promise<void>;
  /** Takes over the stores of programs that an earlier version kept in the context's folder. Safe to repeat. */
  adoptFormer(): Promise<void>;
}

/** The store of a context: the memories in its folder. It has one fixed id and can neither be archived nor deleted. */
export interface ContextMemories extends StoreMemories {
  readonly ownId: string;
  get(id: string): Promise<MemoryStoreRecord>;
  update(id: string, change: Partial<Words>): Promise<MemoryStoreRecord>;
  /** Stores of programs that an earlier version kept in the folder. */
  former(): Promise<MemoryStoreRecord[]>;
  /** Deletes a former store. */
  forget(id: string, by: string): Promise<void>;
}

export interface MemorySettings {
  /** The memories of the project's context, once it has one in this process. */
  contextMemories?: () => ContextMemories | undefined;
}
