import { createHash } from "node:crypto";
import { TandemError } from "@tandem/protocol";
import type { Embedder } from "@tandem/runtime";
import { recordPages, type RecordChange, type SearchDocument, type SearchHit, type Store } from "@tandem/storage";
import { z } from "zod";
import type { ContextFolder } from "../folder/context-folder.ts";
import { leftAlone } from "../folder/left-alone.ts";
import { holdsFor, memoryPath, type MemoryReader, parseMemory } from "../formats/memory-file.ts";
import type { Chunk } from "../ingest/evidence/document-record.ts";
import { documentsOf, FORM, type Found, hashOf, SEARCH_KINDS, type SearchKind, unreadableFile } from "./documents.ts";
import { isCited, readServedPassages } from "./served-passages.ts";

export interface ContextQuery {
  text: string;
  kinds?: readonly SearchKind[];
  filters?: Readonly<Record<string, string>>;
  limit: number;
  /** The session's agent: its memories are visible to it only. */
  agent?: string;
  signal?: AbortSignal;
}

export interface ContextHit extends SearchHit {
  /** The document of a passage that no person has reviewed. */
  unreviewed?: { source: string; path: string };
}

export interface ContextFound {
  hits: ContextHit[];
  /** Why only full-text search was used although embeddings are configured. */
  degraded: string | undefined;
}

export interface SyncReport {
  changed: number;
  removed: number;
  /** Invalid files with their problems. */
  problems: readonly { path: string; message: string }[];
}

/** The indexed state of a file, so that no process parses an unchanged file again. */
const indexedFile = z.object({
  form: z.int(),
  sha256: z.string(),
  keys: z.array(z.string()),
  model: z.string().nullable(),
  /** When it must be checked again although unchanged. */
  until: z.string().nullable(),
  problem: z.string().nullable(),
});
type IndexedFile = z.output<typeof indexedFile>;

const KIND = "indexed";
/** Minimum interval between checks for edited files. */
const FRESH_MS = 2_000;
/** Timeout of the embedder for a query, and the pause after a failure, because a person waits for a search. */
const QUERY_MS = 5_000;
const AWAY_MS = 60_000;
/** Growth factor and maximum of results when some are hidden. */
const MORE = 4;
const MOST = 1_000;
/** Bounds what is in memory: a table's file becomes a document for each column and value. */
const BATCH = 20;
const PAGE = 5_000;

/** The parts of a search that tools use. */
export type SearchView = Pick<ContextSearch, "find" | "kinds" | "now" | "passage">;

/** Finds pages, memories, tables, columns and values. The index follows all changes in the folder. */
export class ContextSearch {
  readonly #folder: ContextFolder;
  readonly #store: Pick<Store, "records" | "search">;
  readonly #kinds: readonly SearchKind[];
  readonly #embedder: Embedder | undefined;
  /** The time by which memories expire, for all readers of this context. */
  readonly now: () => Date;
  #known: Map<string, IndexedFile> | undefined;
  /** File stamps as of the last read. */
  readonly #stamps = new Map<string, string>();
  #syncing: Promise<SyncReport> | undefined;
  #syncedAt = Number.NEGATIVE_INFINITY;
  /** Pause after the embedder failed. */
  #away: { why: string; until: number } | undefined;
  readonly #user: string | undefined;

  constructor(parts: {
    folder: ContextFolder;
    store: Pick<Store, "records" | "search">;
    embedder?: Embedder;
    /** Whether passages that no person has reviewed are found, labelled with their source. */
    unreviewed?: "off" | "label";
    /** Scope `user` memories are visible to this user only. */
    user?: string;
    /** Only these of the kinds that are searched. */
    kinds?: readonly SearchKind[] | undefined;
    now?: () => Date;
  }) {
    this.#folder = parts.folder;
    this.#store = parts.store;
    this.#kinds = SEARCH_KINDS.filter(
      (kind) => (kind !== "chunk" || parts.unreviewed === "label") && (parts.kinds?.includes(kind) ?? true),
    );
    this.#embedder = parts.embedder;
    this.#user = parts.user;
    this.now = parts.now ?? (() => new Date());
  }

  /** The kinds that searches find; without passages unless they are labelled. */
  get kinds(): readonly SearchKind[] {
    return this.#kinds;
  }

  async search(query: ContextQuery): Promise<ContextHit[]> {
    return (await this.find(query)).hits;
  }

  /** Like `search`, and reports whether vectors were used. */
  async find({ text, filters, limit, agent, signal, ...query }: ContextQuery): Promise<ContextFound> {
    const kinds = this.#kinds.filter((kind) => query.kinds?.includes(kind) ?? true);
    if (kinds.length === 0) return { hits: [], degraded: undefined };
    // Values are searched literally.
    const isMeant = text.trim() !== "" && !kinds.every((kind) => kind === "value");
    // Embed before reading files, so that an unavailable embedder is known by then.
    const vector = isMeant ? await this.#vectorOf(text, signal) : undefined;
    if (performance.now() - this.#syncedAt > FRESH_MS) await this.sync();
    const wanted = {
      text,
      kinds,
      ...(filters && { filters }),
      ...(vector && { vector, vectorModel: this.#embedder!.model }),
    };
    // Hidden results are filtered afterwards; if too few remain, request more.
    for (let most = limit; ; most *= MORE) {
      const found = await this.#store.search.search(this.#folder.id, { ...wanted, limit: most });
      const hits = (await this.#visible(found, { agent, user: this.#user })).slice(0, limit);
      if (hits.length === limit || found.length < most || most >= MOST) {
        return { hits, degraded: isMeant && !vector ? this.#awayBecause() : undefined };
      }
    }
  }

  /** A passage in full, if searches find it or a page of the wiki cites it. */
  async passage(citation: string): Promise<{ passage: Chunk; isReviewed: boolean } | undefined> {
    const served = await readServedPassages({ records: this.#store.records, space: this.#folder.id }, [citation]);
    const passage = served.get(citation);
    if (!passage) return undefined;
    const isReviewed = await isCited(this.#folder, passage);
    return isReviewed || this.#kinds.includes("chunk") ? { passage, isReviewed } : undefined;
  }

  /** Undefined without an embedder, or if it does not answer in time. */
  async #vectorOf(text: string, signal: AbortSignal | undefined): Promise<Float32Array | undefined> {
    if (!this.#embedder || this.#awayBecause() !== undefined) return undefined;
    const patience = AbortSignal.timeout(QUERY_MS);
    const both = signal ? AbortSignal.any([signal, patience]) : patience;
    const [vector] = (await this.#embed([text], { signal: both, patience, caller: signal })) ?? [];
    return vector;
  }

  /** Undefined on failure, which is recorded. */
  async #embed(
    texts: string[],
    { signal, patience, caller }: { signal?: AbortSignal; patience?: AbortSignal; caller?: AbortSignal } = {},
  ): Promise<Float32Array[] | undefined> {
    try {
      const vectors = await this.#embedder!.embed(texts, { ...(signal && { signal }) });
      this.#away = undefined;
      return vectors;
    } catch (error) {
      caller?.throwIfAborted();
      if (!patience?.aborted && !(error instanceof TandemError)) throw error;
      const why = patience?.aborted
        ? `The embedding service did not answer within ${QUERY_MS / 1_000} s.`
        : (error as TandemError).message;
      this.#away = { why, until: performance.now() + AWAY_MS };
      return undefined;
    }
  }

  #awayBecause(): string | undefined {
    return this.#away && performance.now() < this.#away.until ? this.#away.why : undefined;
  }

  /** Removes memories of other readers and passages that are not served; labels the other passages. */
  async #visible(hits: readonly SearchHit[], reader: MemoryReader): Promise<ContextHit[]> {
    const passages = await readServedPassages(
      { records: this.#store.records, space: this.#folder.id },
      hits.flatMap(({ key, kind }) => (kind === "chunk" ? [key.slice("chunk:".length)] : [])),
    );
    const visible = await Promise.all(
      hits.map(async (hit): Promise<ContextHit[]> => {
        const name = hit.key.slice(`${hit.kind}:`.length);
        if (hit.kind === "memory") return (await this.#isFor(name, reader)) ? [hit] : [];
        if (hit.kind !== "chunk") return [hit];
        const passage = passages.get(name);
        return passage ? [{ ...hit, unreviewed: { source: passage.source, path: passage.path } }] : [];
      }),
    );
    return visible.flat();
  }

  async #isFor(memory: string, reader: MemoryReader): Promise<boolean> {
    const text = await this.#folder.read(memoryPath(memory)).catch(leftAlone);
    const parsed = text === undefined ? undefined : parseMemory(text);
    return parsed?.success === true && holdsFor(parsed.memory, reader);
  }

  /** Updates the index from the folder. */
  sync(): Promise<SyncReport> {
    this.#syncing ??= this.#sync().finally(() => {
      this.#syncing = undefined;
    });
    return this.#syncing;
  }

  async #sync(): Promise<SyncReport> {
    const known = (this.#known ??= await this.#load());
    const stamps = await this.#folder.stamps();
    const paths = [...stamps.keys()];
    const gone = [...known.keys()].filter((path) => !stamps.has(path));
    let changed = 0;
    for (let from = 0; from < paths.length; from += BATCH) {
      const looked = await Promise.all(
        paths.slice(from, from + BATCH).map((path) => this.#look(path, stamps.get(path), known.get(path))),
      );
      changed += await this.#put(looked.filter((file) => file !== undefined));
    }
    await this.#forget(gone);
    this.#syncedAt = performance.now();
    const problems = [...known].flatMap(([path, { problem }]) =>
      problem === null ? [] : [{ path, message: problem }],
    );
    return { changed, removed: gone.length, problems };
  }

  async #load(): Promise<Map<string, IndexedFile>> {
    const known = new Map<string, IndexedFile>();
    for await (const page of recordPages(this.#store.records, this.#folder.id, KIND, { pageSize: PAGE })) {
      for (const { key, value } of page) known.set(key, indexedFile.parse(value));
    }
    return known;
  }

  /** Undefined if the index is up to date. */
  async #look(path: string, stamp: string | undefined, known: IndexedFile | undefined): Promise<Looked | undefined> {
    const isDue = known?.until != null && Date.parse(known.until) <= this.now().getTime();
    const model = this.#awayBecause() === undefined ? (this.#embedder?.model ?? null) : null;
    // Without an embedder, keep existing vectors: they would cost again.
    const hasVectors = model === null || known?.model === model;
    if (stamp !== undefined && stamp === this.#stamps.get(path) && hasVectors && !isDue) return undefined;
    const text = await this.#folder.read(path).catch(asUnreadable);
    if (text === undefined) return undefined;
    if (stamp !== undefined) this.#stamps.set(path, stamp);
    const sha256 = createHash("sha256").update(String(text)).digest("hex");
    if (known?.sha256 === sha256 && known.form === FORM && hasVectors && !isDue) return undefined;
    const found =
      text instanceof TandemError ? unreadableFile(path, text.message) : documentsOf(path, text, this.now());
    return { path, sha256, model, old: known?.keys ?? [], ...found };
  }

  async #put(files: readonly Looked[]): Promise<number> {
    if (files.length === 0) return 0;
    const found = files.flatMap(({ documents }) => documents);
    const documents = await this.#withVectors(found);
    await this.#store.search.put(this.#folder.id, documents);
    // Missing vectors are added when the embedder is available again.
    const isWhole = this.#awayBecause() === undefined;
    const keys = new Set(found.map(({ key }) => key));
    const dropped = files.flatMap(({ old }) => old.filter((key) => !keys.has(key)));
    if (dropped.length > 0) await this.#store.search.remove(this.#folder.id, dropped);
    const changes = files.map((file): RecordChange => {
      const { path, sha256, documents, until, problem } = file;
      const model = isWhole ? file.model : null;
      const value: IndexedFile = { form: FORM, sha256, model, keys: documents.map(({ key }) => key), until, problem };
      this.#known!.set(path, value);
      return { type: "put", kind: KIND, key: path, value };
    });
    await this.#store.records.write(this.#folder.id, changes);
    return files.length;
  }

  async #withVectors(found: readonly Found[]): Promise<SearchDocument[]> {
    const documents = found.map((document) => ({ ...document, hash: hashOf(document) }));
    const embedder = this.#embedder;
    // Sampled values are searched literally, without vectors. Empty documents have none.
    const meant = documents.filter(({ kind, title, text }) => kind !== "value" && `${title}${text}`.trim() !== "");
    if (!embedder || meant.length === 0 || this.#awayBecause() !== undefined) return documents;
    const vectors = await this.#embed(meant.map(({ title, text }) => `${title}\n${text}`));
    if (!vectors) return documents;
    const byKey = new Map(meant.map(({ key }, at) => [key, vectors[at]]));
    return documents.map((document) => {
      const vector = byKey.get(document.key);
      return vector ? { ...document, vector, vectorModel: embedder.model } : document;
    });
  }

  async #forget(paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const gone = new Set(paths);
    const keys = paths.flatMap((path) => this.#known!.get(path)?.keys ?? []);
    // A renamed page has the same documents under another path: remove only those that no file has.
    const left = new Set([...this.#known!].flatMap(([path, file]) => (gone.has(path) ? [] : file.keys)));
    await this.#store.search.remove(
      this.#folder.id,
      keys.filter((key) => !left.has(key)),
    );
    await this.#store.records.write(
      this.#folder.id,
      paths.map((key) => ({ type: "delete", kind: KIND, key })),
    );
    for (const path of paths) {
      this.#known!.delete(path);
      this.#stamps.delete(path);
    }
  }
}

/** A binary or too large file is a problem of that file only. */
function asUnreadable(error: unknown): TandemError {
  if (error instanceof TandemError && error.code !== "unavailable") return error;
  throw error;
}

type Looked = Pick<IndexedFile, "sha256" | "model" | "until" | "problem"> & {
  path: string;
  old: readonly string[];
  documents: readonly Found[];
};
