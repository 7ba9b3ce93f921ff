import { createHash } from "node:crypto";
import { Lexer, type Token } from "marked";
import { chunkCitation } from "../../sources/citation.ts";
import { splitBlock } from "./split-block.ts";

/** Maximum length of a chunk, in characters. */
export const CHUNK_LENGTH = 4_800;

/** A passage of a document, cut at headings. */
export interface ChunkText {
  citation: string;
  /** Without the document's title. */
  headings: string[];
  content: string;
  /** SHA-256 of the content. */
  hash: string;
}

interface Section {
  headings: string[];
  blocks: string[];
}

/**
 * Cuts Markdown at headings, and long sections between paragraphs; keeps tables and code whole if they fit. A passage's
 * key consists of its headings, so that changes elsewhere do not affect it.
 */
export function chunkDocument(document: string, markdown: string): ChunkText[] {
  const sections = new Map<string, Section>();
  for (const section of sectionsOf(markdown)) {
    // Sections of the same name are merged: numbering them would change with the first.
    const key = chunkCitation(document, section.headings, 1);
    const known = sections.get(key);
    if (known) known.blocks.push(...section.blocks);
    else sections.set(key, section);
  }
  return [...sections.values()].flatMap(({ headings, blocks }) =>
    pack(blocks).map((content, index) => ({
      citation: chunkCitation(document, headings, index + 1),
      headings,
      content,
      hash: createHash("sha256").update(content).digest("hex"),
    })),
  );
}

function* sectionsOf(markdown: string): Generator<Section> {
  let section: Section = { headings: [], blocks: [] };
  let above: { depth: number; text: string }[] = [];
  let isFirst = true;
  // Only blocks are tokenised; inline markup is irrelevant.
  for (const token of new Lexer({ gfm: true }).blockTokens(markdown, [])) {
    if (token.type !== "heading") {
      if (isShown(token)) section.blocks.push(token.raw.replaceAll(/^\n+|\s+$/g, ""));
      continue;
    }
    if (section.blocks.length > 0) yield section;
    const depth = Number(token["depth"]);
    const text = plainText(String(token["text"]));
    above = above.filter((heading) => heading.depth < depth);
    // The first heading is the document's title, which applies to everything.
    if (!isFirst || depth > 1) above.push({ depth, text });
    isFirst = false;
    section = { headings: above.map((heading) => heading.text), blocks: [] };
  }
  if (section.blocks.length > 0) yield section;
}

/** Readers do not see comments, so they are not evidence. */
const isShown = ({ type, raw }: Token): boolean =>
  type !== "space" && type !== "def" && !(type === "html" && /^\s*(<!--[\s\S]*?(-->|$)\s*)+$/.test(raw));

const plainText = (heading: string): string =>
  heading
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[*_`~\\]|<[^>]+>/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();

function pack(blocks: readonly string[]): string[] {
  const chunks: string[] = [];
  for (const block of blocks.flatMap((each) => splitBlock(each, CHUNK_LENGTH))) {
    const last = chunks.at(-1);
    if (last !== undefined && last.length + block.length + 2 <= CHUNK_LENGTH)
      chunks[chunks.length - 1] = `${last}\n\n${block}`;
    else chunks.push(block);
  }
  return chunks;
}
