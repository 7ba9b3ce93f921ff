/** Something that can be found. Put again under the same key, it takes the place of the former. */
export interface SearchDocument {
  /** Unique in its space: `table:shop/public.orders`, `page:refunds`. */
  key: string;
  kind: string;
  title: string;
  /** What is searched beside the title, in any language. */
  text: string;
  /** Exact-match filters: `{connection: "shop", schema: "public", tag: "billing"}`. */
  filters?: Readonly<Record<string, string | readonly string[]>>;
  /** Of what it was made, so that an unchanged one need not be put again. */
  hash: string;
  /** Found by meaning, where there are embeddings. All vectors of a space have one length and come from one model. */
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
  /** The best passage, with the words that were found between `«` and `»`. */
  snippet: string;
  /** Higher is better; comparable within one answer only. */
  score: number;
  /** Which ways found it. */
  by: readonly ("words" | "meaning")[];
}

/**
 * Full text over documents: words of every language and script, parts of identifiers (`customer` finds `CustomerId` and
 * `customer_id`), prefixes, with ranks; where the query has a vector, fused with the nearest by meaning. Heavy work is done
 * in a thread or process of its own. Any text is a valid query: it is never parsed as an expression.
 */
export interface SearchIndex {
  put(space: string, documents: readonly SearchDocument[]): Promise<void>;
  remove(space: string, keys: readonly string[]): Promise<void>;
  /** What is there, with its hashes: to find what has changed. */
  hashes(space: string, kind?: string): Promise<ReadonlyMap<string, { hash: string; vectorModel: string | null }>>;
  search(space: string, query: SearchQuery): Promise<SearchHit[]>;
}
