import { operation } from "../../operation.ts";
import { refuse } from "../../refusal.ts";
import { all, insert, list, one, raw, sql, type Sql, type Value, type Work } from "../../sql-statement.ts";

type Engine = "sqlite" | "postgres";

/** A document with its index terms. */
export interface SearchRow {
  key: string;
  kind: string;
  hash: string;
  title: string;
  body: string;
  terms: { facts: string; title: string; body: string } | string;
  vector: Uint8Array | undefined;
  vectorModel: string | null;
}

export interface SearchSpace {
  number: number;
  version: number;
  removed: number;
}

export function* findSpace(name: string): Work<SearchSpace | undefined> {
  return yield* one(sql<SearchSpace>`select number, version, removed from search_space where name = ${name}`);
}

/** Returns the space's number, which prefixes all its terms. */
export const enterSearchSpace = operation("search.enter", function* (name: string): Work<number> {
  const found = yield* findSpace(name);
  if (found) return found.number;
  yield sql`insert into search_space (name, version, removed) values (${name}, 0, 0) on conflict (name) do nothing`;
  return (yield* findSpace(name))!.number;
});

/** Serialises writers of a space. Returns the version for their changes. */
function* lockSpace(name: string, number: number): Work<number> {
  const row = yield* one(sql<{ version: number }>`
    update search_space set version = version + 1 where name = ${name} and number = ${number} returning version`);
  if (row) return row.version;
  throw refuse("conflict", "The space was deleted while it was being written to.", "Try again.");
}

interface PutArgs {
  engine: Engine;
  name: string;
  space: number;
  /** Unique by key. */
  rows: readonly SearchRow[];
}

export const putSearchDocuments = operation("search.put", function* (args: PutArgs): Work<void> {
  const { engine, name, space, rows } = args;
  const version = yield* lockSpace(name, space);
  const stored = yield* all(sql<{ number: number; key: string }>`
    ${insert(
      "search_document",
      rows.map(({ key, kind, hash, title, body, terms, vectorModel }) => {
        // Postgres searches facts through its index only; SQLite also filters on this column.
        const facts = typeof terms === "string" ? "" : ` ${terms.facts} `;
        return { space, key, kind, hash, facts, title, body, vector_model: vectorModel };
      }),
    )} on conflict (space, key) do update set kind = excluded.kind, hash = excluded.hash, facts = excluded.facts,
      title = excluded.title, body = excluded.body, vector_model = excluded.vector_model
    returning number, key`);
  const numbers = new Map(stored.map(({ key, number }) => [key, number]));
  const numberOf = ({ key }: SearchRow): number => numbers.get(key)!;
  yield* putTerms(engine, rows, numberOf);
  yield* putVectors(name, space, version, rows, numberOf);
});

function* putTerms(engine: Engine, rows: readonly SearchRow[], numberOf: (row: SearchRow) => number): Work<void> {
  if (engine === "sqlite") yield sql`delete from search_terms where rowid in ${list(rows.map(numberOf))}`;
  const records = rows.map((row): Record<string, Value> => {
    if (typeof row.terms === "string") return { document: numberOf(row), terms: row.terms };
    return { rowid: numberOf(row), ...row.terms };
  });
  const conflict = engine === "sqlite" ? "" : "on conflict (document) do update set terms = excluded.terms";
  yield sql`${insert("search_terms", records)} ${raw(conflict)}`;
}

function* putVectors(
  name: string,
  space: number,
  version: number,
  rows: readonly SearchRow[],
  numberOf: (row: SearchRow) => number,
): Work<void> {
  const byModel = Map.groupBy(rows, ({ vector, vectorModel }) => (vector ? (vectorModel ?? "") : undefined));
  for (const [model, some] of byModel) {
    const others: Sql = model === undefined ? raw("") : sql`and model <> ${model}`;
    yield* dropVectors(name, sql`document in ${list(some.map(numberOf))} ${others}`);
    if (model === undefined) continue;
    const records = some.map((row) => ({ document: numberOf(row), space, model, version, vector: row.vector! }));
    yield sql`${insert("search_vector", records)} on conflict (document)
      do update set version = excluded.version, vector = excluded.vector`;
  }
}

function* dropVectors(name: string, condition: Sql): Work<void> {
  const gone = yield* all(sql`delete from search_vector where ${condition} returning document`);
  if (gone.length > 0) yield sql`update search_space set removed = removed + ${gone.length} where name = ${name}`;
}

export const removeSearchDocuments = operation(
  "search.delete",
  function* (args: { engine: Engine; name: string; keys: readonly string[] }): Work<void> {
    const { engine, name, keys } = args;
    const space = yield* findSpace(name);
    if (!space) return;
    yield* lockSpace(name, space.number);
    const gone = yield* all(sql<{ number: number }>`
      delete from search_document where space = ${space.number} and key in ${list(keys)} returning number`);
    yield* forget(engine, name, gone);
  },
);

function* forget(engine: Engine, name: string, gone: readonly { number: number }[]): Work<void> {
  if (gone.length === 0) return;
  const numbers = list(gone.map(({ number }) => number));
  yield sql`delete from search_terms where ${raw(engine === "sqlite" ? "rowid" : "document")} in ${numbers}`;
  yield* dropVectors(name, sql`document in ${numbers}`);
}

const DELETED_AT_ONCE = 100;

/** Deletes one batch of a space's documents, and finally the space. Returns whether to call again. */
export const deleteSomeSearchDocuments = operation(
  "search.space.delete",
  function* (args: { engine: Engine; name: string }): Work<boolean> {
    const { engine, name } = args;
    const space = yield* findSpace(name);
    if (!space) return false;
    yield* lockSpace(name, space.number);
    const gone = yield* all(sql<{ number: number }>`
      delete from search_document where number in (
        select number from search_document where space = ${space.number} limit ${DELETED_AT_ONCE}
      ) returning number`);
    yield* forget(engine, name, gone);
    if (gone.length === 0) yield sql`delete from search_space where name = ${name}`;
    return true;
  },
);

/**
 * SQLite keeps deleted words in the FTS index until segments are merged. Merges a bounded part and returns whether
 * there is more. `first` starts a new merge.
 */
export const mergeSearchTerms = operation("search.merge", function* (first: boolean): Work<boolean> {
  const changes = sql<{ count: number }>`select total_changes() as count`;
  const before = (yield* one(changes))!.count;
  yield sql`insert into search_terms (search_terms, rank) values ('merge', ${first ? -MERGED_AT_ONCE : MERGED_AT_ONCE})`;
  // The merge command itself counts as one change.
  return (yield* one(changes))!.count - before > 1;
});

/** In pages. */
const MERGED_AT_ONCE = 500;

export const listSearchHashes = operation(
  "search.hashes",
  function* (args: { name: string; kind: string | undefined; after: string | undefined; limit: number }) {
    const { name, kind, after, limit } = args;
    const space = yield* findSpace(name);
    if (!space) return [];
    return yield* all(sql<{ key: string; hash: string; vector_model: string | null }>`
      select key, hash, vector_model from search_document
      where space = ${space.number}
        ${after === undefined ? raw("") : sql`and key > ${after}`}
        ${kind === undefined ? raw("") : sql`and kind = ${kind}`}
      order by key limit ${limit}`);
  },
);

export const readSearchDocuments = operation("search.read", function* (numbers: readonly number[]) {
  return yield* all(sql<{ number: number; key: string; kind: string; title: string; body: string }>`
    select number, key, kind, title, body from search_document where number in ${list(numbers)}`);
});
