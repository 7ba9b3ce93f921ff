import { createHash } from "node:crypto";
import { slug } from "./slug.ts";
import { type Source, textItem } from "./source.ts";

const TITLE_LENGTH = 80;

/** Pasted text, identified by its content. Earlier pasted texts stay valid, so absence deletes nothing. */
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
