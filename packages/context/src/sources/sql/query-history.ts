import { setImmediate } from "node:timers/promises";
import { TandemError } from "@tandem/protocol";
import { slug } from "../slug.ts";
import { csvObjects } from "../csv.ts";
import { redactSql } from "./redact-sql.ts";
import { fenced } from "./sql-document.ts";
import { sqlTables } from "./sql-tables.ts";
import { sqlTokens } from "./sql-tokens.ts";

const QUERY = ["query", "query_text", "sql", "sql_text", "statement", "querytext"];
const COUNT = ["count", "calls", "executions", "execution_count", "total", "runs", "times"];
const USER = ["user", "user_name", "username", "usename", "role", "userid", "user_email"];

/** Path prefix of its documents. */
export const HISTORY = "history/";

/** Query shapes shown per table; the rest is counted. */
const SHOWN = 30;
const LONGEST = 3_000;

/** Queries per batch, before yielding to the event loop. */
const TURN = 500;

interface Shape {
  sql: string;
  tables: readonly string[];
  count: number;
  users: Set<string>;
}

/** Queries of a database, grouped by shape. Values and people's names are dropped at once. */
export class QueryHistory {
  readonly #shapes = new Map<string, Shape>();

  /** Reads an export: CSV with a header, or one JSON object per line. */
  async add(path: string, text: string): Promise<void> {
    const rows = /\.(jsonl|ndjson)$/i.test(path) ? jsonLines(text, path) : csvObjects(text);
    let column: string | undefined;
    let read = 0;
    for (const row of rows) {
      read += 1;
      // Yield: a history is long, and other work runs in this process.
      if (read % TURN === 0) await setImmediate();
      column ??= nameIn(row, QUERY);
      if (column === undefined) break;
      this.addQuery(row[column] ?? "", Number(row[nameIn(row, COUNT) ?? ""]), row[nameIn(row, USER) ?? ""]);
    }
    if (column === undefined) throw noQueries(path);
  }

  addQuery(query: string, times: number, user: string | undefined): void {
    const tokens = sqlTokens(query);
    const tables = sqlTables(query, tokens);
    const sql = redactSql(query, tokens);
    if (sql === "" || tables.length === 0) return;
    const shape = this.#shapes.get(sql) ?? { sql, tables, count: 0, users: new Set() };
    shape.count += Number.isFinite(times) && times > 0 ? times : 1;
    if (user) shape.users.add(user);
    this.#shapes.set(sql, shape);
  }

  /** One document per table, with the queries that start from it. */
  documents(): { path: string; title: string; markdown: string }[] {
    // Two spellings of a name are one table.
    const pathOf = (table: string) => `${HISTORY}${table.toLowerCase().split(".").map(slug).join(".")}.md`;
    const byPath = Map.groupBy(this.#shapes.values(), ({ tables }) => pathOf(tables[0]!));
    return [...byPath].map(([path, shapes]) => {
      const table = shapes.map(({ tables }) => tables[0]!).sort()[0]!;
      return { path, title: `Queries on ${table}`, markdown: render(table, shapes) };
    });
  }
}

function render(table: string, shapes: readonly Shape[]): string {
  // Uses rounded counts, so that a growing history gives the same text and costs nothing.
  const sorted = shapes.toSorted((a, b) => rounded(b.count) - rounded(a.count) || (a.sql < b.sql ? -1 : 1));
  const joined = new Map<string, number>();
  for (const { tables, count } of shapes) {
    for (const other of tables.slice(1)) joined.set(other, (joined.get(other) ?? 0) + count);
  }
  const others = [...joined].toSorted((a, b) => rounded(b[1]) - rounded(a[1]) || (a[0] < b[0] ? -1 : 1));
  return [
    `# Queries on ${table}`,
    `How \`${table}\` is queried in practice, from query history. Values are left out as \`?\`.`,
    others.length > 0
      ? `## Used together with\n\n${others.map(([name, count]) => `- \`${name}\`: ${inWords(count)}`).join("\n")}`
      : "",
    "## Queries",
    ...sorted.slice(0, SHOWN).map(({ sql, count, users }) => {
      const by = users.size > 0 ? ` by ${users.size === 1 ? "one user" : `${rounded(users.size)} users`}` : "";
      return `Asked ${inWords(count)}${by}:\n\n${fenced(sql.slice(0, LONGEST))}`;
    }),
    sorted.length > SHOWN ? `There are ${rounded(sorted.length - SHOWN)} or so other queries on it.` : "",
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

const inWords = (count: number): string => (count < 2 ? "once" : `about ${rounded(count)} times`);

/** To one digit. */
function rounded(count: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, count)));
  return Math.floor(count / unit) * unit;
}

function nameIn(row: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  const own = Object.keys(row);
  return names.flatMap((name) => own.find((each) => each.toLowerCase() === name) ?? [])[0];
}

function* jsonLines(text: string, path: string): Generator<Record<string, string>> {
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    let parsed: unknown;
    try {
      parsed = JSON.parse(line);
    } catch (cause) {
      throw new TandemError("broken", `${path} has a line that is not JSON.`, {
        fix: "Export the history as one JSON object per line.",
        cause,
      });
    }
    if (typeof parsed !== "object" || parsed === null) continue;
    yield Object.fromEntries(Object.entries(parsed).map(([key, value]) => [key, plain(value)]));
  }
}

const plain = (value: unknown): string =>
  typeof value === "string" ? value : value === null || value === undefined ? "" : JSON.stringify(value);

const noQueries = (path: string): TandemError =>
  new TandemError("no_queries", `${path} has no column of queries.`, {
    fix: `Name that column one of ${QUERY.slice(0, 5).join(", ")}, or leave the file out with \`exclude\`.`,
  });
