import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import { all, one, raw, sql, where, type Sql, type Work } from "./sql.ts";
import type { Page, PageQuery } from "./store.ts";
import { toMs, type TimeSpan } from "./time.ts";

// Lists are sorted by a number (a time, a version) and an id. A cursor names a place between two rows by one of them, so
// that it stays good whatever is added or deleted.

const cursorSchema = z.strictObject({
  /** Version of this format. */
  v: z.literal(1),
  list: z.string(),
  order: z.enum(["asc", "desc"]),
  towards: z.enum(["next", "previous"]),
  at: z.number(),
  id: z.string(),
  /** Whether the row itself belongs to the page. */
  with: z.boolean(),
});
type Cursor = z.infer<typeof cursorSchema>;

export interface PageArgs {
  limit: number;
  order: "asc" | "desc";
  cursor: Cursor | undefined;
}

export interface Keyed {
  sort_at: number;
  sort_id: string;
}

interface Found<Row> {
  rows: Row[];
  before: boolean;
  after: boolean;
}

/** Reads a query's cursor and says what is wrong with it. */
export function pageArgs(name: string, { limit, order, cursor }: PageQuery): PageArgs {
  if (cursor === undefined) return { limit, order: order ?? "desc", cursor: undefined };
  const parsed = cursorSchema.safeParse(parse(cursor));
  const isOurs = parsed.success && parsed.data.list === name;
  if (!isOurs || (order !== undefined && order !== parsed.data.order)) {
    throw new RequestError("invalid_request", "This cursor does not belong to this list.", {
      fix: "Pass on `next_page` or `prev_page` as it came, with the same order, or start again without a cursor.",
    });
  }
  return { limit, order: parsed.data.order, cursor: parsed.data };
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

/** `select` names the row's columns and tables; `at` and `id` are the columns that it is sorted by. */
export function* readPage<Row>(
  { limit, order, cursor }: PageArgs,
  query: { select: Sql<Row>; at: string; id: string; conditions: readonly Sql[] },
): Work<Found<Row & Keyed>> {
  const { select, conditions } = query;
  const key = raw(`(${query.at}, ${query.id})`);
  const compare = (towards: "next" | "previous", { at, id }: Pick<Cursor, "at" | "id">, inclusive: boolean): Sql => {
    const isUp = (towards === "next") === (order === "asc");
    return sql`${key} ${raw((isUp ? ">" : "<") + (inclusive ? "=" : ""))} (${at}, ${id})`;
  };
  const towards = cursor?.towards ?? "next";
  const direction = raw((towards === "next") === (order === "asc") ? "asc" : "desc");
  const rows = yield* all(sql<Row & Keyed>`
    select ${raw(query.at)} as sort_at, ${raw(query.id)} as sort_id, ${select}
    ${where([...conditions, ...(cursor ? [compare(towards, cursor, cursor.with)] : [])])}
    order by ${raw(query.at)} ${direction}, ${raw(query.id)} ${direction} limit ${limit + 1}`);
  const more = rows.length > limit;
  if (more) rows.pop();
  if (towards === "previous") rows.reverse();

  let behind = false;
  if (cursor) {
    const back = towards === "next" ? "previous" : "next";
    const edge = towards === "next" ? rows[0] : rows.at(-1);
    const place = edge
      ? compare(back, { at: edge.sort_at, id: edge.sort_id }, false)
      : compare(back, cursor, !cursor.with);
    behind = (yield* one(sql`select 1, ${select} ${where([...conditions, place])} limit 1`)) !== undefined;
  }
  return towards === "next" ? { rows, before: behind, after: more } : { rows, before: more, after: behind };
}

export function toPage<Row extends Keyed, T>(
  name: string,
  { order, cursor }: PageArgs,
  { rows, before, after }: Found<Row>,
  decode: (row: Row) => T,
): Page<T> {
  const encode = (towards: "next" | "previous", row: Row | undefined): string => {
    // From an empty page, the way back leads to the row that the cursor named.
    const place = row
      ? { at: row.sort_at, id: row.sort_id, with: false }
      : { at: cursor!.at, id: cursor!.id, with: !cursor!.with };
    const made: Cursor = { v: 1, list: name, order, towards, ...place };
    return Buffer.from(JSON.stringify(made)).toString("base64url");
  };
  return {
    data: rows.map(decode),
    next: after ? encode("next", rows.at(-1)) : null,
    previous: before ? encode("previous", rows[0]) : null,
  };
}

/** Conditions that a time column lies within. */
export function within(column: string, span: TimeSpan | undefined): Sql[] {
  const time = raw(column);
  return [
    ...(span?.gt === undefined ? [] : [sql`${time} > ${toMs(span.gt)}`]),
    ...(span?.gte === undefined ? [] : [sql`${time} >= ${toMs(span.gte)}`]),
    ...(span?.lt === undefined ? [] : [sql`${time} < ${toMs(span.lt)}`]),
    ...(span?.lte === undefined ? [] : [sql`${time} <= ${toMs(span.lte)}`]),
  ];
}
