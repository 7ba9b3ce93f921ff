import type { SOURCE_TYPES, TandemError } from "@tandem/protocol";

/** Kind of a source; `text` is pasted text. */
export type SourceType = (typeof SOURCE_TYPES)[number] | "text";

/**
 * A source of documents. It lists and reads; it never decides what is new, and never calls a model.
 *
 * - One item is one document, the unit of comparison between runs. If a file contains many (a dbt manifest, a query
 * history), each is a separate item with its extracted Markdown as bytes: the file changes with every run of its tool,
 * its models and queries do not.
 * - An unreadable item is listed as `skipped` with one sentence; listing never rejects because of an item. It does
 * reject if the source itself is missing.
 * - Paths are unique, in any order.
 */
export interface Source {
  readonly name: string;
  readonly type: SourceType;
  /** The connection of its tables. */
  readonly connection?: string;
  /** `some`: unlisted items may still exist, so nothing counts as deleted. */
  readonly lists: "all" | "some";
  list(options?: { signal?: AbortSignal }): AsyncIterable<SourceEntry>;
}

interface SourceItem {
  /** Relative to the source, with `/`; identifies the item across runs. */
  path: string;
  title?: string;
  /** In bytes. */
  size: number;
  /** Rejects with a `TandemError` if it cannot be read. */
  read(): Promise<Uint8Array>;
}

export type SourceEntry =
  | { type: "item"; item: SourceItem }
  /**
   * A relevant item that was skipped: too large or unreadable. Items with the prefix `hides` (default: its path) may be
   * missing because of it, and do not count as deleted.
   */
  | { type: "skipped"; path: string; error: TandemError; hides?: string }
  /** Irrelevant: an image, a link to elsewhere. Counted, not listed. */
  | { type: "ignored"; path: string };

/** An item as Markdown. */
export interface Document {
  title: string;
  markdown: string;
  /** Metadata for triage: `space`, `under`, `tables`, `tags`. */
  signals: Readonly<Record<string, string>>;
}

/** An item with Markdown already at hand. */
export function textItem(path: string, title: string, markdown: string): SourceEntry {
  const bytes = new TextEncoder().encode(markdown);
  return { type: "item", item: { path, title, size: bytes.byteLength, read: async () => bytes } };
}
