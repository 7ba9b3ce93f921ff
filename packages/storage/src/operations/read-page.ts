import { all, one, raw, sql, type Sql, where, type Work } from "../sql-statement.ts";

// Lists are sorted by a number (time or version) and an id. A cursor names a row's sort key, not an offset, so it stays
// valid when rows are added or deleted.

export interface CursorPosition {
  towards: "next" | "previous";
  at: number;
  id: string;
  /** Whether the page includes the row itself. */
  with: boolean;
}

export interface PageArgs {
  limit: number;
  order: "asc" | "desc";
  cursor: CursorPosition | undefined;
}

/** Milliseconds. */
export interface Span {
  gt?: number;
  gte?: number;
  lt?: number;
  lte?: number;
}

export interface SortKey {
  sort_at: number;
  sort_id: string;
}

export interface PageRows<Row> {
  rows: Row[];
  before: boolean;
  after: boolean;
}

/** `select` names columns and tables; `at` and `id` are the sort columns. */
export function* readPage<Row>(
  { limit, order, cursor }: PageArgs,
  query: { select: Sql<Row>; at: string; id: string; conditions: readonly Sql[] },
): Work<PageRows<Row & SortKey>> {
  const { select, conditions } = query;
  const key = raw(`(${query.at}, ${query.id})`);
  const beyond = (towards: CursorPosition["towards"], at: number, id: string, inclusive: boolean): Sql => {
    const isUp = (towards === "next") === (order === "asc");
    return sql`${key} ${raw((isUp ? ">" : "<") + (inclusive ? "=" : ""))} (${at}, ${id})`;
  };
  const towards = cursor?.towards ?? "next";
  const direction = raw((towards === "next") === (order === "asc") ? "asc" : "desc");
  const rows = yield* all(sql<Row & SortKey>`
    select ${raw(query.at)} as sort_at, ${raw(query.id)} as sort_id, ${select}
    ${where([...conditions, ...(cursor ? [beyond(towards, cursor.at, cursor.id, cursor.with)] : [])])}
    order by ${raw(query.at)} ${direction}, ${raw(query.id)} ${direction} limit ${limit + 1}`);
  const more = rows.length > limit;
  if (more) rows.pop();
  if (towards === "previous") rows.reverse();

  let behind = false;
  if (cursor) {
    const back = towards === "next" ? "previous" : "next";
    const edge = towards === "next" ? rows[0] : rows.at(-1);
    const rest = edge
      ? beyond(back, edge.sort_at, edge.sort_id, false)
      : beyond(back, cursor.at, cursor.id, !cursor.with);
    behind = (yield* one(sql`select 1, ${select} ${where([...conditions, rest])} limit 1`)) !== undefined;
  }
  return towards === "next" ? { rows, before: behind, after: more } : { rows, before: more, after: behind };
}

/** Conditions that keep a time column within the span. */
export function within(column: string, span: Span | undefined): Sql[] {
  const time = raw(column);
  return [
    ...(span?.gt === undefined ? [] : [sql`${time} > ${span.gt}`]),
    ...(span?.gte === undefined ? [] : [sql`${time} >= ${span.gte}`]),
    ...(span?.lt === undefined ? [] : [sql`${time} < ${span.lt}`]),
    ...(span?.lte === undefined ? [] : [sql`${time} <= ${span.lte}`]),
  ];
}

/**
 * Selects the leading rows of a range whose sizes stay within `most` bytes, at least one, in one round trip. Only the sizes of
 * the other rows are read, and neither engine reads a text for its length. Each row has `sized`: the number of rows of the range
 * that were read, so that the caller knows whether there are more.
 */
export function selectWithin<Row>(
  most: number,
  { columns, table, key, size, conditions, order, limit }: SizedRange,
): Sql<Row & { sized: number }> {
  const sort = raw(`${key} ${order}`);
  const [name, bytes] = [raw(key), raw(size)];
  const last = raw(order === "asc" ? `<= (select max(${key})` : `>= (select min(${key})`);
  const wanted = where(conditions);
  return sql<Row & { sized: number }>`
    with sized as (
      select ${name}, octet_length(${bytes}) as bytes from ${raw(table)} ${wanted} order by ${sort} limit ${limit}
    ), summed as (
      select ${name}, bytes, row_number() over run as place, sum(bytes) over run as total
      from sized window run as (order by ${sort} rows unbounded preceding)
    )
    select ${raw(columns)}, (select count(*) from sized) as sized from ${raw(table)} ${wanted}
      and ${name} ${last} from summed where place = 1 or total <= ${raw(String(most))})
    order by ${sort} limit ${limit}`;
}

export interface SizedRange {
  columns: string;
  table: string;
  /** The column that the range is sorted by. */
  key: string;
  /** The column whose size counts. */
  size: string;
  /** At least one. */
  conditions: readonly Sql[];
  order: "asc" | "desc";
  limit: number;
}

/** Whether a range has more rows than the part that was selected. */
export const hasMore = (rows: readonly { sized: number }[], limit: number): boolean =>
  rows.length > 0 && (rows.length === limit || rows.length < rows[0]!.sized);

/** Counts the leading items whose total size stays within `most`; at least 1 if there are any. */
export function countWithin(most: number, sizes: readonly { bytes: number }[]): number {
  let sum = 0;
  const end = sizes.findIndex(({ bytes }, index) => (sum += bytes) > most && index > 0);
  return end === -1 ? sizes.length : end;
}
