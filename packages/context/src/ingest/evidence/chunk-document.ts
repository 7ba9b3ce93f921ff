import { createHash } from "node:crypto";
import { Lexer, type Token } from "marked";
import { chunkCitation } from "./citation.ts";
import { splitBlock } from "./split-block.ts";

/** Of one chunk, in characters. */
export const CHUNK_LENGTH = 4_800;

/** A passage of a document, cut at its headings. */
export interface ChunkText {
  citation: string;
  /** The document's title is not among them. */
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
 * Cuts Markdown at its headings, and long sections between paragraphs; tables and code are kept whole where they fit. The
 * key of a passage is made of the headings above it, so that a change elsewhere in the document does not change it.
 */
export function chunkDocument(document: string, markdown: string): ChunkText[] {
  const sections = new Map<string, Section>();
  for (const section of sectionsOf(markdown)) {
    // Two sections of the same name are one: which of them is the second would change with the first.
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
  // Blocks are enough: what is bold or a link in them is not looked at.
  for (const token of new Lexer({ gfm: true }).blockTokens(markdown, [])) {
    if (token.type !== "heading") {
      if (isShown(token)) section.blocks.push(token.raw.replaceAll(/^\n+|\s+$/g, ""));
      continue;
    }
    if (section.blocks.length > 0) yield section;
    const depth = Number(token["depth"]);
    const text = plainText(String(token["text"]));
    above = above.filter((heading) => heading.depth < depth);
    // The heading that a document begins with is its title: it stands above everything, and says nothing about a part.
    if (!isFirst || depth > 1) above.push({ depth, text });
    isFirst = false;
    section = { headings: above.map((heading) => heading.text), blocks: [] };
  }
  if (section.blocks.length > 0) yield section;
}

/** Comments are not seen by those who read the page, and so are no evidence. */
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
