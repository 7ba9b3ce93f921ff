import { createHash } from "node:crypto";
import { slug } from "../evidence/slug.ts";
import { type Source, textItem } from "./source.ts";

const TITLE_LENGTH = 80;

/**
 * Pasted text, known by what it says: the same text again is the same item. Other texts that were pasted before are still
 * good, so nothing is deleted by their absence.
 */
export function textSource(text: string, { name = "pasted", title = firstLine(text) } = {}): Source {
  const hash = createHash("sha256").update(text).digest("hex");
  const path = `${slug(title)}-${hash.slice(0, 8)}.md`;
  return {
    name,
    type: "text",
    lists: "some",
    async *list() {
      if (text.trim() !== "") yield textItem(path, title, text);
    },
  };
}

function firstLine(text: string): string {
  const line = text
    .trim()
    .split("\n", 1)[0]!
    .replace(/^#+\s*/, "")
    .trim();
  return line.slice(0, TITLE_LENGTH) || "Pasted text";
}
