import { all, one, raw, sql, type Sql, where, type Work } from "../sql.ts";

// Lists are sorted by a number (a time, a version) and an id. A cursor names a place between two rows by one of them, so
// that it stays good whatever is added or deleted.

export interface Place {
  towards: "next" | "previous";
  at: number;
  id: string;
  /** Whether the row itself belongs to the page. */
  with: boolean;
}

export interface PageArgs {
  limit: number;
  order: "asc" | "desc";
  place: Place | undefined;
}

/** Milliseconds. */
export interface Span {
  gt?: number;
  gte?: number;
  lt?: number;
  lte?: number;
}

export interface Keyed {
  sort_at: number;
  sort_id: string;
}

export interface Found<Row> {
  rows: Row[];
  before: boolean;
  after: boolean;
}

/** `select` names the row's columns and tables; `at` and `id` are the columns that it is sorted by. */
export function* readPage<Row>(
  { limit, order, place }: PageArgs,
  query: { select: Sql<Row>; at: string; id: string; conditions: readonly Sql[] },
): Work<Found<Row & Keyed>> {
  const { select, conditions } = query;
  const key = raw(`(${query.at}, ${query.id})`);
  const beyond = (towards: Place["towards"], at: number, id: string, inclusive: boolean): Sql => {
    const isUp = (towards === "next") === (order === "asc");
    return sql`${key} ${raw((isUp ? ">" : "<") + (inclusive ? "=" : ""))} (${at}, ${id})`;
  };
  const towards = place?.towards ?? "next";
  const direction = raw((towards === "next") === (order === "asc") ? "asc" : "desc");
  const rows = yield* all(sql<Row & Keyed>`
    select ${raw(query.at)} as sort_at, ${raw(query.id)} as sort_id, ${select}
    ${where([...conditions, ...(place ? [beyond(towards, place.at, place.id, place.with)] : [])])}
    order by ${raw(query.at)} ${direction}, ${raw(query.id)} ${direction} limit ${limit + 1}`);
  const more = rows.length > limit;
  if (more) rows.pop();
  if (towards === "previous") rows.reverse();

  let behind = false;
  if (place) {
    const back = towards === "next" ? "previous" : "next";
    const edge = towards === "next" ? rows[0] : rows.at(-1);
    const rest = edge ? beyond(back, edge.sort_at, edge.sort_id, false) : beyond(back, place.at, place.id, !place.with);
    behind = (yield* one(sql`select 1, ${select} ${where([...conditions, rest])} limit 1`)) !== undefined;
  }
  return towards === "next" ? { rows, before: behind, after: more } : { rows, before: more, after: behind };
}

/** Conditions that a time column lies within. */
export function within(column: string, span: Span | undefined): Sql[] {
  const time = raw(column);
  return [
    ...(span?.gt === undefined ? [] : [sql`${time} > ${span.gt}`]),
    ...(span?.gte === undefined ? [] : [sql`${time} >= ${span.gte}`]),
    ...(span?.lt === undefined ? [] : [sql`${time} < ${span.lt}`]),
    ...(span?.lte === undefined ? [] : [sql`${time} <= ${span.lte}`]),
  ];
}

/** How many of the first are together no longer than that, but at least one if there are any. */
export function countWithin(most: number, sizes: readonly { bytes: number }[]): number {
  let sum = 0;
  const end = sizes.findIndex(({ bytes }, index) => (sum += bytes) > most && index > 0);
  return end === -1 ? sizes.length : end;
}
