import { nearest, TandemError } from "@tandem/protocol";
import type { Evidence } from "../../evidence.ts";
import { documentOf } from "../../sources/citation.ts";
import type { Chunk } from "../evidence/document-record.ts";
import { readChunks, readDocumentRecord, readNeighbours } from "../evidence/read-evidence.ts";
import type { ContextStore } from "../../sources/context-store.ts";

const QUOTE = 300;

/**
 * The passages that an agent may read and cite. Passages of suspicious documents are visible only to agents whose work
 * is quarantined.
 */
export class EvidenceStore {
  readonly #store: ContextStore;
  readonly #isOpen: (document: string) => boolean | undefined;
  readonly #allowed = new Map<string, boolean>();

  /** `isOpen` decides for documents of this run; undefined for others. */
  constructor(store: ContextStore, isOpen: (document: string) => boolean | undefined) {
    this.#store = store;
    this.#isOpen = isOpen;
  }

  /** In the order of the citations; missing or hidden ones are omitted. */
  async read(citations: readonly string[]): Promise<Chunk[]> {
    return this.#visible(await readChunks(this.#store, citations));
  }

  async neighbours(citation: string, around: number): Promise<Chunk[]> {
    return this.#visible(await readNeighbours(this.#store, citation, around));
  }

  async search(text: string, limit: number): Promise<{ chunk: Chunk; snippet: string }[]> {
    const hits = await this.#store.search.search(this.#store.space, { text, kinds: ["chunk"], limit });
    const snippets = new Map(hits.map(({ key, snippet }) => [key.slice("chunk:".length), snippet]));
    const chunks = await this.read([...snippets.keys()]);
    return chunks.map((chunk) => ({ chunk, snippet: snippets.get(chunk.citation)! }));
  }

  /** Rejects with suggestions if a citation does not exist. */
  async require(citations: readonly string[]): Promise<Chunk[]> {
    const found = await this.read(citations);
    const known = new Set(found.map(({ citation }) => citation));
    const unknown = citations.filter((citation) => !known.has(citation));
    if (unknown.length === 0) return found;
    const messages = await Promise.all(
      unknown.map(async (citation) => `There is no passage ${citation}.${await this.#near(citation)}`),
    );
    throw new TandemError("unknown_citation", messages.join(" "));
  }

  async #near(citation: string): Promise<string> {
    const document = await readDocumentRecord(this.#store, documentOf(citation));
    if (document) {
      const meant = nearest(
        citation.slice(citation.indexOf("#") + 1),
        document.chunks.map((key) => key.slice(key.indexOf("#") + 1)),
      );
      const shown = meant === undefined ? document.chunks.slice(0, 8) : [`${document.citation}#${meant}`];
      return ` ${document.citation} has: ${shown.join(", ")}.`;
    }
    const hits = await this.search(citation.replaceAll(/[^\p{L}\p{N}]+/gu, " "), 3);
    return hits.length === 0 ? "" : ` Near it: ${hits.map(({ chunk }) => chunk.citation).join(", ")}.`;
  }

  async #visible(chunks: readonly Chunk[]): Promise<Chunk[]> {
    const visible: Chunk[] = [];
    for (const chunk of chunks) if (await this.#isVisible(documentOf(chunk.citation))) visible.push(chunk);
    return visible;
  }

  async #isVisible(document: string): Promise<boolean> {
    const known = this.#allowed.get(document);
    if (known !== undefined) return known;
    const said = this.#isOpen(document);
    const allowed = said ?? (await readDocumentRecord(this.#store, document))?.suspicious === null;
    this.#allowed.set(document, allowed);
    return allowed;
  }
}

export const asEvidence = ({ source, path, sha256, citation, content }: Chunk): Evidence => ({
  type: "source",
  source,
  path,
  sha256,
  citation,
  quote: content.length > QUOTE ? `${content.slice(0, QUOTE - 1).toWellFormed()}…` : content,
});
