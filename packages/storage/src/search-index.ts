/** A searchable document. Putting the same key again replaces it. */
export interface SearchDocument {
  /** Unique within the space: `table:shop/public.orders`, `page:refunds`. */
  key: string;
  kind: string;
  title: string;
  /** Indexed in addition to the title, in any language. */
  text: string;
  /** Exact-match filters: `{connection: "shop", schema: "public", tag: "billing"}`. */
  filters?: Readonly<Record<string, string | readonly string[]>>;
  /** Hash of the source, to skip unchanged documents. */
  hash: string;
  /** For semantic search. All vectors of a space have the same length and model. */
  vector?: Float32Array;
  vectorModel?: string;
}

export interface SearchQuery {
  text: string;
  vector?: Float32Array;
  vectorModel?: string;
  kinds?: readonly string[];
  filters?: Readonly<Record<string, string>>;
  limit: number;
}

export interface SearchHit {
  key: string;
  kind: string;
  title: string;
  /** The best passage, with matches between `«` and `»`. */
  snippet: string;
  /** Higher is better; comparable only within one result list. */
  score: number;
  /** Whether full text, vectors or both found it. */
  by: readonly ("words" | "meaning")[];
}

/**
 * Ranked full-text search: words in every language and script, identifier parts (`customer` finds `CustomerId` and
 * `customer_id`) and prefixes. With a query vector, the results are fused with the nearest vectors. Heavy work runs in
 * its own thread or process. Any text is a valid query; there is no query syntax.
 */
export interface SearchIndex {
  put(space: string, documents: readonly SearchDocument[]): Promise<void>;
  remove(space: string, keys: readonly string[]): Promise<void>;
  /** SQLite keeps words of removed documents on disk until later writes; this erases them now. Postgres vacuums by itself. */
  eraseDeleted(): Promise<void>;
  /** Stored hashes, for finding changed documents. */
  hashes(space: string, kind?: string): Promise<ReadonlyMap<string, { hash: string; vectorModel: string | null }>>;
  search(space: string, query: SearchQuery): Promise<SearchHit[]>;
}
