/**
 * Types that a statement can bind. Times are milliseconds and JSON is text, so that both engines store and compare
 * alike.
 */
export type Value = string | number | null | Uint8Array;

/**
 * A parameterised statement in the SQL that both engines support. `Row` is unchecked, except by the contract suite; it
 * is declared beside the SQL to be reviewed together.
 */
export interface Sql<Row = unknown> {
  /** The text around the values: always one more part than values. */
  readonly parts: readonly string[];
  readonly values: readonly Value[];
  /** Prepared under this name. The text must then be constant. */
  readonly name?: string;
  /** On Postgres, the connection is given up if it has not answered by then. Default: 35 seconds. */
  readonly timeoutMs?: number;
  readonly row?: Row;
}

/** Tagged template: `` sql`select … where id = ${id}` ``. Nested `Sql` pieces are spliced in. */
export function sql<Row = unknown>(strings: TemplateStringsArray, ...inserted: (Value | Sql)[]): Sql<Row> {
  const parts = [strings[0]!];
  const values: Value[] = [];
  for (const [index, item] of inserted.entries()) {
    const after = strings[index + 1]!;
    if (isSql(item)) {
      parts.push(parts.pop()! + item.parts[0]!, ...item.parts.slice(1));
      parts.push(parts.pop()! + after);
      values.push(...item.values);
    } else {
      values.push(item);
      parts.push(after);
    }
  }
  return { parts, values };
}

const isSql = (item: Value | Sql): item is Sql => typeof item === "object" && item !== null && "parts" in item;

/** Inserts trusted text verbatim. Never pass external input: it would allow SQL injection. */
export const raw = (text: string): Sql => ({ parts: [text], values: [] });

export function join(pieces: readonly (Sql | Value)[], separator: string): Sql {
  const parts = [""];
  const values: Value[] = [];
  for (const [index, piece] of pieces.entries()) {
    const { parts: more, values: theirs } = isSql(piece) ? piece : { parts: ["", ""], values: [piece] };
    parts.push(parts.pop()! + (index > 0 ? separator : "") + more[0]!, ...more.slice(1));
    values.push(...theirs);
  }
  return { parts, values };
}

/** A list for `in (…)`; it may be empty. */
export const list = (values: readonly Value[]): Sql => (values.length > 0 ? sql`(${join(values, ", ")})` : sql`(null)`);

export const where = (conditions: readonly Sql[]): Sql =>
  conditions.length > 0 ? sql`where ${join(conditions, " and ")}` : raw("");

/** All rows must have the same columns. Builds the parts directly, because this is the most frequent statement. */
export function insert(table: string, rows: readonly Record<string, Value>[], name?: string): Sql {
  const columns = Object.keys(rows[0]!);
  const parts = [`insert into ${table} (${columns.join(", ")}) values (`];
  const values: Value[] = [];
  for (const [index, row] of rows.entries()) {
    for (const [at, column] of columns.entries()) {
      values.push(row[column]!);
      const isLast = at === columns.length - 1;
      parts.push(isLast ? (index === rows.length - 1 ? ")" : "), (") : ", ");
    }
  }
  return { parts, values, ...(name !== undefined && { name }) };
}

/** `a = 1, b = 2` for an `update`. */
export const assign = (record: Record<string, Value>): Sql =>
  join(
    Object.entries(record).map(([column, value]) => sql`${raw(column)} = ${value}`),
    ", ",
  );

/** Larger statements are not faster. */
const ROWS_PER_INSERT = 64;

export function* insertAll(table: string, rows: readonly Record<string, Value>[]): Work<void> {
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    yield insert(table, rows.slice(from, from + ROWS_PER_INSERT));
  }
}

/**
 * The statements of one transaction: yields SQL and receives rows. It cannot await anything else, so no transaction
 * stays open during foreign I/O. Throwing rolls back.
 */
export type Work<T> = Generator<Sql, T, unknown[]>;

export function* all<Row>(statement: Sql<Row>): Work<Row[]> {
  return (yield statement) as Row[];
}

export function* one<Row>(statement: Sql<Row>): Work<Row | undefined> {
  return (yield* all(statement))[0];
}

/** Runs the work on a synchronous connection. */
export function perform<T>(work: Work<T>, execute: (statement: Sql) => unknown[]): T {
  let step = work.next();
  while (!step.done) step = work.next(execute(step.value));
  return step.value;
}

/** Runs the work on an asynchronous connection. */
export async function performAsync<T>(work: Work<T>, execute: (statement: Sql) => Promise<unknown[]>): Promise<T> {
  let step = work.next();
  while (!step.done) step = work.next(await execute(step.value));
  return step.value;
}
