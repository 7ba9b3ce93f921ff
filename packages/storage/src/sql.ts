/** What a statement may carry. Times are milliseconds, JSON is text: both engines then hold and compare the same. */
export type Value = string | number | null | Uint8Array;

/**
 * SQL with its values apart, in words that both engines understand. `Row` is what it returns; nothing checks it but the
 * contract suite, so it stands beside the SQL.
 */
export interface Sql<Row = unknown> {
  /** The text around the values: one part more than there are values. */
  readonly parts: readonly string[];
  readonly values: readonly Value[];
  /** A statement that is used all the time is prepared under this name; its text must not vary. */
  readonly name?: string;
  readonly row?: Row;
}

/** `` sql`select … where id = ${id}` ``; other pieces of SQL may be put in as well. */
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

/** Text of ours, as it is. Never what comes from outside. */
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

/** `(a, b, c)` of an `in`, which may be empty. */
export const list = (values: readonly Value[]): Sql => (values.length > 0 ? sql`(${join(values, ", ")})` : sql`(null)`);

export const where = (conditions: readonly Sql[]): Sql =>
  conditions.length > 0 ? sql`where ${join(conditions, " and ")}` : raw("");

/** Inserts rows that all have the same columns. Flat by hand: it is the hottest statement there is. */
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

/** `a = 1, b = 2` of an `update`. */
export const assign = (record: Record<string, Value>): Sql =>
  join(
    Object.entries(record).map(([column, value]) => sql`${raw(column)} = ${value}`),
    ", ",
  );

/** More rows than this make a statement longer than it is worth. */
const ROWS_PER_INSERT = 64;

export function* insertAll(table: string, rows: readonly Record<string, Value>[]): Work<void> {
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    yield insert(table, rows.slice(from, from + ROWS_PER_INSERT));
  }
}

/**
 * The work of a transaction: yields statements and is given their rows. It can wait for nothing else, so that no
 * transaction is ever held open for the sake of something foreign. What it throws undoes what it did.
 */
export type Work<T> = Generator<Sql, T, unknown[]>;

export function* all<Row>(statement: Sql<Row>): Work<Row[]> {
  return (yield statement) as Row[];
}

export function* one<Row>(statement: Sql<Row>): Work<Row | undefined> {
  return (yield* all(statement))[0];
}

/** Does the work where statements are performed at once. */
export function perform<T>(work: Work<T>, execute: (statement: Sql) => unknown[]): T {
  let step = work.next();
  while (!step.done) step = work.next(execute(step.value));
  return step.value;
}

/** Does the work where statements take their time. */
export async function performAsync<T>(work: Work<T>, execute: (statement: Sql) => Promise<unknown[]>): Promise<T> {
  let step = work.next();
  while (!step.done) step = work.next(await execute(step.value));
  return step.value;
}
