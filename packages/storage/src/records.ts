import type { Announcement } from "@tandem/protocol";

/**
 * Small JSON documents of other packages, by kind and key: runs, provenance, evidence, candidates, proposals, caches. A
 * space belongs to one context; spaces are isolated from each other. Keys may have 2,000 bytes and other names 200;
 * longer or malformed ones are `RequestError("invalid_request")`.
 */
export interface Records {
  get(space: string, kind: string, key: string): Promise<StoredRecord | undefined>;
  /** The existing ones, in the order of `keys`. */
  getMany(space: string, kind: string, keys: readonly string[]): Promise<StoredRecord[]>;
  /** Sorted by key (code point order), starting after `after`. */
  list(
    space: string,
    kind: string,
    query: { prefix?: string; after?: string; limit: number; order?: "asc" | "desc" },
  ): Promise<StoredRecord[]>;
  /**
   * Applies the changes in order, in one transaction. Rejects with `RequestError("conflict")`, naming the key, if a
   * `version` does not match the stored one. `announce` is for webhooks, and part of the transaction.
   */
  write(space: string, changes: readonly RecordChange[], with_?: { announce?: readonly Announcement[] }): Promise<void>;
}

export interface StoredRecord {
  key: string;
  value: unknown;
  /** Starts at 1 and increments with each change. */
  version: number;
  updatedAt: string;
}

export type RecordChange =
  /** `version`: expected stored version, 0 for absent. Without it, the write is unconditional. */
  | { type: "put"; kind: string; key: string; value: unknown; version?: number }
  | { type: "delete"; kind: string; key: string };

/** Raw source content, deduplicated by its hash. */
export interface Blobs {
  /** Returns the SHA-256 in hex. */
  put(space: string, content: Uint8Array): Promise<string>;
  get(space: string, sha256: string): Promise<Uint8Array | undefined>;
  /** Deletes the blobs that are not in `keep`; returns how many. May also delete one that is put concurrently. */
  prune(space: string, keep: ReadonlySet<string>): Promise<number>;
}
