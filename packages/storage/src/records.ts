/**
 * Small documents that other rooms keep in formats of their own, by kind and key: runs, provenance, evidence, candidates,
 * proposals, caches. Values are JSON. A space is whose they are (a context); nothing is seen across spaces. Names and keys
 * are whole text: up to 2,000 bytes for a key, 200 for others, and else `RequestError("invalid_request")`.
 */
export interface Records {
  get(space: string, kind: string, key: string): Promise<StoredRecord | undefined>;
  /** Those of the keys that are there, in the order in which they are given. */
  getMany(space: string, kind: string, keys: readonly string[]): Promise<StoredRecord[]>;
  /** In the order of their keys (by code point), from after `after`. */
  list(
    space: string,
    kind: string,
    query: { prefix?: string; after?: string; limit: number; order?: "asc" | "desc" },
  ): Promise<StoredRecord[]>;
  /**
   * All of them or none, one after the other, in one transaction. Rejects with `RequestError("conflict")`, which names the
   * key, if a `version` is not the stored one.
   */
  write(space: string, changes: readonly RecordChange[]): Promise<void>;
}

export interface StoredRecord {
  key: string;
  value: unknown;
  /** Grows with each change; 1 at first. */
  version: number;
  updatedAt: string;
}

export type RecordChange =
  /** `version`: what must be stored now; 0 for nothing. Without it, whatever is. */
  | { type: "put"; kind: string; key: string; value: unknown; version?: number }
  | { type: "delete"; kind: string; key: string };

/** Raw sources, by the hash of their content. What is there already is not stored twice. */
export interface Blobs {
  /** Returns its SHA-256 in hex. */
  put(space: string, content: Uint8Array): Promise<string>;
  get(space: string, sha256: string): Promise<Uint8Array | undefined>;
  /** Removes those that are not among `keep`; returns how many. One that is put meanwhile may be among them. */
  prune(space: string, keep: ReadonlySet<string>): Promise<number>;
}
