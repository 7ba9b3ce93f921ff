import { operation } from "../../operation.ts";
import { all, sql, type Work } from "../../sql-statement.ts";

export interface VectorPage {
  documents: Float64Array;
  /** Concatenated. Vectors with another length than the first are skipped. */
  vectors: Float32Array<ArrayBuffer>;
  /** Start of the next page; undefined after the last. */
  next: { version: number; document: number } | undefined;
}

/** One page of the vectors changed since a version. */
export const readSearchVectors = operation(
  "search.vectors",
  function* (args: {
    space: number;
    model: string;
    after: { version: number; document: number };
    length: number;
    limit: number;
  }): Work<VectorPage> {
    const { space, model, after, length, limit } = args;
    const rows = yield* all(sql<{ document: number; version: number; vector: Uint8Array }>`
      select document, version, vector from search_vector
      where space = ${space} and model = ${model} and (version, document) > (${after.version}, ${after.document})
      order by version, document limit ${limit}`);
    const fitting = rows.filter(({ vector }) => vector.byteLength === length * Float32Array.BYTES_PER_ELEMENT);
    const vectors = new Float32Array(fitting.length * length);
    const bytes = new Uint8Array(vectors.buffer);
    for (const [index, { vector }] of fitting.entries()) bytes.set(vector, index * vector.byteLength);
    const last = rows.length === limit ? rows.at(-1)! : undefined;
    return {
      documents: Float64Array.from(fitting, ({ document }) => document),
      vectors,
      next: last && { version: last.version, document: last.document },
    };
  },
);

export const listVectorDocuments = operation(
  "search.vector.list",
  function* ({ space, model }: { space: number; model: string }): Work<Float64Array> {
    const rows = yield* all(sql<{ document: number }>`
      select document from search_vector where space = ${space} and model = ${model}`);
    return Float64Array.from(rows, ({ document }) => document);
  },
);
