import type { Database } from "../database.ts";
import type { SearchSpace } from "../operations/search/search-documents.ts";
import { listVectorDocuments, readSearchVectors, type VectorPage } from "../operations/search/search-vectors.ts";
import type { SearchWorker } from "../search/search-worker.ts";

const VECTORS_PER_PAGE = 1_000;
/** Cache limit over all matrices; evicts the least recently used. The one in use always stays. */
const MAX_BYTES = 1_073_741_824;

interface Copy {
  version: number;
  removed: number;
  bytes: number;
  /** Serialises updates and queries of this matrix. */
  work: Promise<void>;
}

/** Caches vectors in the search thread and updates them with the changes of all processes. */
export class SearchVectors {
  readonly #database: Database;
  readonly #worker: SearchWorker;
  readonly #copies = new Map<string, Copy>();

  constructor(database: Database, worker: SearchWorker) {
    this.#database = database;
    this.#worker = worker;
  }

  /** Call after the thread has exited. */
  forget(): void {
    this.#copies.clear();
  }

  /** Numbers of the nearest documents, among the given ones or all. */
  async nearest(
    space: SearchSpace,
    query: { vector: Float32Array; model: string; count: number; among: Float64Array | undefined },
  ): Promise<number[]> {
    const { vector, model, count, among } = query;
    const matrix = `${space.number} ${vector.length} ${model}`;
    const copy = this.#copies.get(matrix) ?? { version: 0, removed: 0, bytes: 0, work: Promise.resolve() };
    // Re-insert at the end of the map: most recently used.
    this.#copies.delete(matrix);
    this.#copies.set(matrix, copy);
    const update = copy.work.then(() => this.#update(copy, matrix, space, model, vector.length));
    copy.work = update.catch(() => {});
    await update;
    await this.#makeRoom(matrix);
    return (await this.#worker.ask("nearest", { matrix, vector, count, among })).documents;
  }

  /** Versions are committed in order, so every vector newer than the cache's version is missing from it. */
  async #update(copy: Copy, matrix: string, space: SearchSpace, model: string, length: number): Promise<void> {
    if (copy.version >= space.version) return;
    const { number } = space;
    let after: VectorPage["next"] = { version: copy.version, document: LAST };
    while (after) {
      const args = { space: number, model, after, length, limit: VECTORS_PER_PAGE };
      const page: VectorPage = await this.#database.read(readSearchVectors, args, "search");
      const { documents, vectors, next } = page;
      copy.bytes += vectors.byteLength;
      const transfer = [documents.buffer as ArrayBuffer, vectors.buffer];
      if (documents.length > 0) await this.#worker.ask("addVectors", { matrix, length, documents, vectors }, transfer);
      after = next;
    }
    if (copy.removed !== space.removed) {
      const documents = await this.#database.read(listVectorDocuments, { space: number, model }, "search");
      copy.bytes = documents.length * length * Float32Array.BYTES_PER_ELEMENT;
      await this.#worker.ask("keepVectors", { matrix, documents });
    }
    copy.version = space.version;
    copy.removed = space.removed;
  }

  async #makeRoom(used: string): Promise<void> {
    let sum = [...this.#copies.values()].reduce((total, { bytes }) => total + bytes, 0);
    for (const [matrix, copy] of this.#copies) {
      if (sum <= MAX_BYTES) return;
      if (matrix === used) continue;
      sum -= copy.bytes;
      this.#copies.delete(matrix);
      await this.#worker.ask("dropMatrix", { matrix });
    }
  }
}

/** Sorts after all documents of a version. */
const LAST = Number.MAX_SAFE_INTEGER;
