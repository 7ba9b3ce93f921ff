import { RequestError } from "@tandem/protocol";
import type { Database } from "../database.ts";
import {
  deleteSomeSearchDocuments,
  enterSearchSpace,
  listSearchHashes,
  mergeSearchTerms,
  putSearchDocuments,
  readSearchDocuments,
  removeSearchDocuments,
  type SearchRow,
} from "../operations/search/search-documents.ts";
import { searchFacts, searchTerms } from "../operations/search/search-terms.ts";
import type { SearchDocument, SearchHit, SearchIndex } from "../search-index.ts";
import { fuseRanks } from "../search/fuse-ranks.ts";
import { SearchWorker } from "../search/search-worker.ts";
import { checkNames } from "./names.ts";
import { SearchVectors } from "./search-vectors.ts";

/** A write of this size takes a few milliseconds, so other writers hardly wait. */
const LETTERS_AT_ONCE = 20_000;
const DOCUMENTS_AT_ONCE = 100;
const KEYS_AT_ONCE = 100;
const HASHES_PER_PAGE = 5_000;
/** Fusing needs a minimum depth: a document low in one list can rank high in the combination. */
const LEAST_FUSED = 50;
const MAX_HITS = 1_000;

export interface OwnedSearchIndex extends SearchIndex, AsyncDisposable {
  deleteSpace(space: string): Promise<void>;
}

export function createSearchIndex(database: Database): OwnedSearchIndex {
  const { engine } = database;
  const worker = new SearchWorker(() => vectors.forget());
  const vectors = new SearchVectors(database, worker);

  async function rowsOf(space: number, documents: readonly SearchDocument[]): Promise<SearchRow[]> {
    const indexed = documents.map(({ key, kind, title, text, filters }) => ({ key, kind, title, text, filters }));
    const terms = await worker.ask("terms", { engine, space, documents: indexed });
    return documents.map((document, index) => ({ ...rowOf(document), terms: terms[index]! }));
  }

  async function eraseDeleted(): Promise<void> {
    if (engine === "postgres") return;
    let more = await database.write(mergeSearchTerms, true);
    while (more) more = await database.write(mergeSearchTerms, false);
  }

  return {
    put: async (name, documents) => {
      checkNames({ space: name });
      for (const document of documents) checkDocument(document);
      // The last document of a duplicate key wins.
      const unique = [...new Map(documents.map((document) => [document.key, document])).values()];
      if (unique.length === 0) return;
      const space = await database.write(enterSearchSpace, name, name);
      // Computes the next batch's terms while this one is written.
      let written: Promise<void> = Promise.resolve();
      for (const some of portions(unique)) {
        const [rows] = await Promise.all([rowsOf(space, some), written]);
        written = database.write(putSearchDocuments, { engine, name, space, rows }, name);
        written.catch(() => {});
      }
      await written;
    },

    remove: async (name, keys) => {
      checkNames({ space: name });
      for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
        const some = keys.slice(from, from + KEYS_AT_ONCE);
        await database.write(removeSearchDocuments, { engine, name, keys: some }, name);
      }
    },

    hashes: async (name, kind) => {
      checkNames({ space: name });
      const hashes = new Map<string, { hash: string; vectorModel: string | null }>();
      for (let after: string | undefined; ;) {
        const page = await database.read(listSearchHashes, { name, kind, after, limit: HASHES_PER_PAGE }, "search");
        for (const { key, hash, vector_model } of page) hashes.set(key, { hash, vectorModel: vector_model });
        if (page.length < HASHES_PER_PAGE) return hashes;
        after = page.at(-1)!.key;
      }
    },

    search: async (name, query) => {
      checkNames({ space: name });
      const { vector, kinds, filters } = query;
      const limit = Math.min(Math.floor(query.limit), MAX_HITS);
      if (!(limit > 0) || kinds?.length === 0) return [];
      const count = vector ? Math.max(limit, LEAST_FUSED) : limit;
      const args = { engine, name, kinds, filters };
      const found = await database.read(searchTerms, { ...args, text: query.text, count }, "search");
      if (!found) return [];
      let near: number[] = [];
      if (vector) {
        const isNarrow = kinds !== undefined || Object.keys(filters ?? {}).length > 0;
        const among = isNarrow ? await database.read(searchFacts, args, "search") : undefined;
        near = await vectors.nearest(found.space, { vector, model: query.vectorModel ?? "", count, among });
      }
      const best = fuseRanks(found.found, near, found.exact).slice(0, limit);
      if (best.length === 0) return [];
      const documents = await database.read(
        readSearchDocuments,
        best.map(({ number }) => number),
        "search",
      );
      const texts = new Map(documents.map((document) => [document.number, document]));
      // A document may have been deleted since the search.
      const hits = best.flatMap(({ number, ...rank }) => {
        const document = texts.get(number);
        return document ? [{ document, rank }] : [];
      });
      const snippets = await worker.ask("snippets", {
        space: found.space.number,
        words: found.words,
        texts: hits.map(({ document }) => document.body || document.title),
      });
      return hits.map(({ document: { key, kind, title }, rank }, index): SearchHit => {
        return { key, kind, title, snippet: snippets[index]!, ...rank };
      });
    },

    deleteSpace: async (name) => {
      let isThere = false;
      while (await database.write(deleteSomeSearchDocuments, { engine, name }, name)) isThere = true;
      if (isThere) await eraseDeleted();
    },

    eraseDeleted,

    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
  };
}

/** Postgres cannot store NUL in text. */
const storable = (text: string): string => text.replaceAll("\u0000", " ").toWellFormed();

const rowOf = ({ key, kind, hash, title, text, vector, vectorModel }: SearchDocument): Omit<SearchRow, "terms"> => ({
  key,
  kind,
  hash,
  title: storable(title),
  body: storable(text),
  vector: vector && new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength),
  vectorModel: vector ? (vectorModel ?? "") : null,
});

function checkDocument({ key, kind, hash, vector }: SearchDocument): void {
  checkNames({ key, kind, hash });
  if (vector && (vector.length === 0 || !vector.every(Number.isFinite))) {
    throw new RequestError("invalid_request", `The vector of ${key} is no list of numbers.`, {
      fix: "Make it again, or leave it out.",
    });
  }
}

function* portions(documents: readonly SearchDocument[]): Generator<SearchDocument[]> {
  let portion: SearchDocument[] = [];
  let letters = 0;
  for (const document of documents) {
    portion.push(document);
    letters += document.text.length + document.title.length;
    if (letters < LETTERS_AT_ONCE && portion.length < DOCUMENTS_AT_ONCE) continue;
    yield portion;
    portion = [];
    letters = 0;
  }
  if (portion.length > 0) yield portion;
}
