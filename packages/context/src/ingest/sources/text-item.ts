import type { SourceEntry } from "./source.ts";

/** An item whose Markdown is at hand already. */
export function textItem(path: string, title: string, markdown: string): SourceEntry {
  const bytes = new TextEncoder().encode(markdown);
  return { type: "item", item: { path, title, size: bytes.byteLength, read: async () => bytes } };
}
