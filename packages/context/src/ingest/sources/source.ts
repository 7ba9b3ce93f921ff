import type { SOURCE_TYPES, TandemError } from "@tandem/protocol";

/** What kind of place a source is; `text` is what somebody pasted. */
export type SourceType = (typeof SOURCE_TYPES)[number] | "text";

/**
 * A place that documents come from. It lists and reads; it never decides what is new, and never asks a model.
 *
 * - One item is one document, and what is compared from run to run. Where a file holds many (a dbt manifest, an export of
 *   query history), each is an item of its own, whose bytes are what was read out of the file, as Markdown: the file
 *   changes with every run of the tool that wrote it, its models and queries do not.
 * - What cannot be read is listed as `skipped` with one sentence, and the rest goes on: listing does not reject for the sake
 *   of an item. It does reject if the place itself is not there.
 * - No path comes twice; the order does not matter.
 */
export interface Source {
  readonly name: string;
  readonly type: SourceType;
  /** The connection that its tables belong to. */
  readonly connection?: string;
  /** `some`: what is not listed may still be there, so nothing is taken as deleted. */
  readonly lists: "all" | "some";
  list(options?: { signal?: AbortSignal }): AsyncIterable<SourceEntry>;
}

interface SourceItem {
  /** Relative to the source, with `/`: how the item is known from run to run. */
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
   * Somebody will miss it: too large, not readable. Items whose paths begin with `hides` (its own path unless it says
   * otherwise) may be missing because of it, and so are not taken as deleted.
   */
  | { type: "skipped"; path: string; error: TandemError; hides?: string }
  /** Nothing that is read here: an image, a link to elsewhere. Counted, not listed. */
  | { type: "ignored"; path: string };

/** An item as Markdown. */
export interface Document {
  title: string;
  markdown: string;
  /** What the place says about it beside its text, for whoever judges it: `space`, `under`, `tables`, `tags`. */
  signals: Readonly<Record<string, string>>;
}

/** An item whose Markdown is at hand already. */
export function textItem(path: string, title: string, markdown: string): SourceEntry {
  const bytes = new TextEncoder().encode(markdown);
  return { type: "item", item: { path, title, size: bytes.byteLength, read: async () => bytes } };
}
