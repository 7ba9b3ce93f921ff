import { createHash } from "node:crypto";
import { TandemError } from "@tandem/protocol";
import type { Embedder } from "@tandem/runtime";
import type { RecordChange, SearchDocument, SearchHit, Store } from "@tandem/storage";
import { z } from "zod";
import type { ContextFolder } from "../folder/context-folder.ts";
import { leftAlone } from "../folder/left-alone.ts";
import { holdsFor, memoryPath, type MemoryReader, parseMemory } from "../memory/memory-file.ts";
import { documentsOf, FORM, type Found, hashOf, type SearchKind, unreadableFile } from "./documents.ts";

export interface ContextQuery {
  text: string;
  kinds?: readonly SearchKind[];
  filters?: Readonly<Record<string, string>>;
  limit: number;
  /** Whose session asks: what is remembered for one agent is found by that agent alone. */
  agent?: string;
  signal?: AbortSignal;
}

export interface ContextFound {
  hits: SearchHit[];
  /** Why it was looked for by words alone, though there are embeddings. */
  degraded: string | undefined;
}

export interface SyncReport {
  changed: number;
  removed: number;
  /** Files that could not be read as what they should be, with what is wrong. */
  problems: readonly { path: string; message: string }[];
}

/** What the index has of a file, so that an unchanged one is not parsed again, by this process or any other. */
const indexedFile = z.object({
  form: z.int(),
  sha256: z.string(),
  keys: z.array(z.string()),
  model: z.string().nullable(),
  /** When it has to be looked at again though it has not changed. */
  until: z.string().nullable(),
  problem: z.string().nullable(),
});
type IndexedFile = z.output<typeof indexedFile>;

const KIND = "indexed";
/** People edit files at any time; a search looks for changes, but not oftener than this. */
const FRESH_MS = 2_000;
/** A person waits for a search: so long for the embedder, and when it is away, no longer than this until the next try. */
const QUERY_MS = 5_000;
const AWAY_MS = 60_000;
/** How many more are asked for where some were for others, and how many at most. */
const MORE = 4;
const MOST = 1_000;
const BATCH = 200;
const PAGE = 5_000;

/** Finds pages, memories, tables, columns and values. The index follows the folder, whoever has changed it. */
export class ContextSearch {
  readonly #folder: ContextFolder;
  readonly #store: Pick<Store, "records" | "search">;
  readonly #embedder: Embedder | undefined;
  readonly #now: () => Date;
  #known: Map<string, IndexedFile> | undefined;
  /** As the files were when they were last read here. */
  readonly #stamps = new Map<string, string>();
  #syncing: Promise<SyncReport> | undefined;
  #syncedAt = Number.NEGATIVE_INFINITY;
  /** The embedder does not answer: it is left in peace until then. */
  #away: { why: string; until: number } | undefined;
  readonly #user: string | undefined;

  constructor(parts: {
    folder: ContextFolder;
    store: Pick<Store, "records" | "search">;
    embedder?: Embedder;
    /** What is remembered for a user is found for that user alone. */
    user?: string;
    now?: () => Date;
  }) {
    this.#folder = parts.folder;
    this.#store = parts.store;
    this.#embedder = parts.embedder;
    this.#user = parts.user;
    this.#now = parts.now ?? (() => new Date());
  }

  async search(query: ContextQuery): Promise<SearchHit[]> {
    return (await this.find(query)).hits;
  }

  /** The same, and whether it could be looked for by meaning. */
  async find({ text, kinds, filters, limit, agent, signal }: ContextQuery): Promise<ContextFound> {
    // Values are looked for as they are.
    const isMeant = text.trim() !== "" && kinds?.every((kind) => kind === "value") !== true;
    // Before the files are looked at: an embedder that is away is known by then.
    const vector = isMeant ? await this.#vectorOf(text, signal) : undefined;
    if (performance.now() - this.#syncedAt > FRESH_MS) await this.sync();
    const query = {
      text,
      ...(kinds && { kinds }),
      ...(filters && { filters }),
      ...(vector && { vector, vectorModel: this.#embedder!.model }),
    };
    // What is for others is left out afterwards; where that leaves too few, more are asked for.
    for (let most = limit; ; most *= MORE) {
      const found = await this.#store.search.search(this.#folder.id, { ...query, limit: most });
      const hits = (await this.#without(found, { agent, user: this.#user })).slice(0, limit);
      if (hits.length === limit || found.length < most || most >= MOST) {
        return { hits, degraded: isMeant && !vector ? this.#awayBecause() : undefined };
      }
    }
  }

  /** Undefined where there is no embedder, or none that answers in time. */
  async #vectorOf(text: string, signal: AbortSignal | undefined): Promise<Float32Array | undefined> {
    if (!this.#embedder || this.#awayBecause() !== undefined) return undefined;
    const patience = AbortSignal.timeout(QUERY_MS);
    const both = signal ? AbortSignal.any([signal, patience]) : patience;
    const [vector] = (await this.#embed([text], { signal: both, patience, caller: signal })) ?? [];
    return vector;
  }

  /** Undefined if it could not be done, which is on record then. */
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

  async #without(hits: readonly SearchHit[], reader: MemoryReader): Promise<SearchHit[]> {
    const isFor = await Promise.all(
      hits.map(async ({ key, kind }) => {
        if (kind !== "memory") return true;
        const text = await this.#folder.read(memoryPath(key.slice("memory:".length))).catch(leftAlone);
        const parsed = text === undefined ? undefined : parseMemory(text);
        return parsed?.success === true && holdsFor(parsed.memory, reader);
      }),
    );
    return hits.filter((_, at) => isFor[at]);
  }

  /** Brings the index up to what the folder is now. */
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
    for (let after: string | undefined; ;) {
      const page = await this.#store.records.list(this.#folder.id, KIND, { limit: PAGE, ...(after && { after }) });
      for (const { key, value } of page) known.set(key, indexedFile.parse(value));
      after = page.at(-1)?.key;
      if (page.length < PAGE) return known;
    }
  }

  /** Undefined if the index has it as it is. */
  async #look(path: string, stamp: string | undefined, known: IndexedFile | undefined): Promise<Looked | undefined> {
    const isDue = known?.until != null && Date.parse(known.until) <= this.#now().getTime();
    const model = this.#awayBecause() === undefined ? (this.#embedder?.model ?? null) : null;
    // Whoever makes no vectors leaves those that are there: they would have to be paid for again.
    const hasVectors = model === null || known?.model === model;
    if (stamp !== undefined && stamp === this.#stamps.get(path) && hasVectors && !isDue) return undefined;
    const text = await this.#folder.read(path).catch(asUnreadable);
    if (text === undefined) return undefined;
    if (stamp !== undefined) this.#stamps.set(path, stamp);
    const sha256 = createHash("sha256").update(String(text)).digest("hex");
    if (known?.sha256 === sha256 && known.form === FORM && hasVectors && !isDue) return undefined;
    const found =
      text instanceof TandemError ? unreadableFile(path, text.message) : documentsOf(path, text, this.#now());
    return { path, sha256, model, old: known?.keys ?? [], ...found };
  }

  async #put(files: readonly Looked[]): Promise<number> {
    if (files.length === 0) return 0;
    const found = files.flatMap(({ documents }) => documents);
    const documents = await this.#withVectors(found);
    await this.#store.search.put(this.#folder.id, documents);
    // They are to be had when the embedder is there again.
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
    // Sampled values are looked for as they are, not by meaning. What says nothing has none: a memory may be empty.
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
    // A renamed page has the same documents under another path: only what no file has any more goes.
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

/** What is no text, or too large, is a problem of that file and keeps nobody from finding the others. */
function asUnreadable(error: unknown): TandemError {
  if (error instanceof TandemError && error.code !== "unavailable") return error;
  throw error;
}

type Looked = Pick<IndexedFile, "sha256" | "model" | "until" | "problem"> & {
  path: string;
  old: readonly string[];
  documents: readonly Found[];
};
