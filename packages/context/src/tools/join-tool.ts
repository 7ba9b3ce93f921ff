import type { Connection, Dialect, TableName } from "@tandem/connectors";
import type { JoinPath, Relationship } from "@tandem/relationships";
import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import type { TableFile } from "../catalogue/table-file.ts";
import type { TableOutline } from "../catalogue/table-outline.ts";
import type { Proposals } from "../proposals/proposals.ts";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import { type ContextTool, defineContextTool } from "../context-tool.ts";
import { JoinSql } from "./join-sql.ts";
import { joinWarnings, reviewNote } from "./join-warnings.ts";
import { estimateJoin, type JoinEffects, measureJoin } from "./measure-join.ts";
import { type PendingJoin, pendingJoins } from "./pending-joins.ts";

const step = z.object({
  from: z.string(),
  to: z.string(),
  condition: z.string(),
  cardinality: z.enum(["many-to-one", "one-to-many", "one-to-one"]),
  confidence: z.number(),
});

export const foundPath = z.object({
  connection: z.string(),
  steps: z.array(step),
  sql: z.string(),
  confidence: z.number(),
  warnings: z.array(z.string()),
  inflated: z.array(
    z.object({
      table: z.string(),
      reason: z.enum(["fan-out", "lookup"]),
      rowsFactor: z.number().nullable(),
      sumFactor: z.number().nullable(),
      sumColumn: z.string().nullable(),
      measured: z.boolean(),
    }),
  ),
  dropped: z.array(
    z.object({ table: z.string(), to: z.string(), rows: z.number(), of: z.number(), measured: z.boolean() }),
  ),
  choices: z.array(z.object({ via: z.string(), steps: z.array(step), sql: z.string(), confidence: z.number() })),
  underReview: z.array(z.object({ condition: z.string(), confidence: z.number() })),
});
type FoundPath = z.input<typeof foundPath>;

export interface JoinToolParts {
  catalogue: CatalogueReader;
  connections: { dialects: ReadonlyMap<string, Dialect>; open(name: string): Promise<Connection> };
  /** For joins under review. */
  proposals?: Pick<Proposals, "waiting" | "page"> | undefined;
}

export const joinTool = (parts: JoinToolParts): ContextTool =>
  defineContextTool({
    name: "join_path",
    title: "Find how two tables join",
    description:
      "The way from one table to another over joins that are known, with the exact condition of each step. Says which tables' rows and sums the joins inflate, by which factor, and how many rows an inner join drops. If several ways are as good, it lists the choices and chooses none: call again with `via`. A table can be joined with itself. Use its conditions as they are instead of guessing from column names. Takes tables as `table_describe` does; both must be of one connection.",
    input: z.object({
      from: z.string().min(1).max(500),
      to: z.string().min(1).max(500),
      connection: z.string().optional(),
      via: z.string().max(500).optional().describe("A table, or a column as `table.column`, that the way must use."),
    }),
    output: foundPath,
    readOnly: true,
    run: async (input, { signal }) => {
      const { catalogue, connections } = parts;
      const from = await catalogue.find(input.from, input.connection);
      const to = await catalogue.find(input.to, input.connection);
      const { connection } = from;
      if (connection !== to.connection) {
        throw new RequestError(
          "invalid_request",
          `${name(from)} is of ${connection}, ${name(to)} of ${to.connection}.`,
          { fix: "Only tables of one connection can be joined." },
        );
      }
      const joins = relationshipsOf(await catalogue.outlines(connection));
      // Imported on demand, because the package is large.
      const { joinPaths } = await import("@tandem/relationships");
      const found = joinPaths(joins, place(from), place(to));
      const paths = chosen(found, input.via);
      const isDirect = paths.some(({ steps }) => steps.length === 1);
      const pending = isDirect || !parts.proposals ? [] : await pendingJoins(parts.proposals, [from, to]);
      if (paths.length === 0) throw noPath(from, to, pending);

      const files = await filesOf(catalogue, connection, paths);
      const dialect = connections.dialects.get(connection);
      const written = paths.map((path) => new JoinSql(path.steps, dialect, (table) => files.get(qualified(table))));
      if (paths.length > 1) return choicesOf(connection, paths, written, pending);
      const [path, sql] = [paths[0]!, written[0]!];
      const onPath = sql.tables.map((table) => files.get(qualified(table)));
      const effects =
        (await measured(parts, connection, { path, sql, files: onPath, signal })) ?? estimateJoin(path, onPath);
      const structured = toStructured(connection, path, sql, effects, pending);
      const markdown = [
        `\`\`\`sql\n${structured.sql}\n\`\`\``,
        ...structured.warnings.map((warning) => `- ${warning}`),
      ].join("\n");
      return { markdown, structured };
    },
  });

/** A database that cannot be opened is no reason to refuse the path. */
async function measured(
  { connections }: JoinToolParts,
  name: string,
  {
    path,
    sql,
    files,
    signal,
  }: { path: JoinPath; sql: JoinSql; files: readonly (TableFile | undefined)[]; signal?: AbortSignal | undefined },
): Promise<JoinEffects | undefined> {
  if (!connections.dialects.has(name)) return undefined;
  const connection = await connections.open(name).catch(() => undefined);
  return connection && measureJoin(connection, path, sql, files, signal);
}

function toStructured(
  connection: string,
  path: JoinPath,
  sql: JoinSql,
  { inflated, dropped }: JoinEffects,
  underReview: PendingJoin[],
): FoundPath {
  return {
    connection,
    ...writtenPath(path, sql),
    warnings: joinWarnings(path, { inflated, dropped }, underReview),
    inflated: inflated.map(({ table, reason, rowsFactor, sumFactor, sumColumn, measured: isMeasured }) => ({
      table: qualified(table),
      reason,
      rowsFactor,
      sumFactor,
      sumColumn,
      measured: isMeasured,
    })),
    dropped: dropped.map(({ position, rows, of, measured: isMeasured }) => ({
      table: qualified(sql.tables[position]!),
      to: qualified(sql.tables[position + 1]!),
      rows,
      of,
      measured: isMeasured,
    })),
    choices: [],
    underReview,
  };
}

const writtenPath = (path: JoinPath, sql: JoinSql) => ({
  steps: path.steps.map(({ from, to, cardinality, confidence }, at) => ({
    from: qualified(from.table),
    to: qualified(to.table),
    condition: sql.conditions[at]!,
    cardinality,
    confidence: round(confidence),
  })),
  sql: sql.chain(),
  confidence: round(path.confidence),
});

/** Several ways mean several things, so that none of them is the answer. */
function choicesOf(
  connection: string,
  paths: readonly JoinPath[],
  written: readonly JoinSql[],
  underReview: PendingJoin[],
): { markdown: string; structured: FoundPath } {
  const choices = paths.map((path, i) => ({ via: viaOf(path, paths), ...writtenPath(path, written[i]!) }));
  const warning = `There are ${choices.length} ways that are as good, and they mean different things. Choose one by the question, and call again with via for its warnings.`;
  const markdown = [
    warning,
    ...choices.map(({ via, sql }) => `\nvia \`${via}\`:\n\`\`\`sql\n${sql}\n\`\`\``),
    ...underReview.map((join) => `- ${reviewNote(join)}`),
  ].join("\n");
  const warnings = [warning, ...underReview.map(reviewNote)];
  const structured: FoundPath = {
    connection,
    steps: [],
    sql: "",
    confidence: 0,
    warnings,
    inflated: [],
    dropped: [],
    choices,
    underReview,
  };
  return { markdown, structured };
}

/** The columns and tables that a way uses, as `table.column` and `table`. */
const usesOf = ({ steps }: JoinPath): string[] =>
  steps.flatMap(({ from, to, cardinality }) => {
    const referring = cardinality === "one-to-many" ? to : from;
    return [...referring.columns.map((column) => `${referring.table.name}.${column}`), from.table.name, to.table.name];
  });

/** The difference between a path and the others. */
function viaOf(path: JoinPath, paths: readonly JoinPath[]): string {
  const others = paths.filter((other) => other !== path).map((other) => new Set(usesOf(other)));
  const uses = usesOf(path);
  return (
    uses.find((use) => others.every((other) => !other.has(use))) ??
    uses.find((use) => others.some((other) => !other.has(use))) ??
    uses[0]!
  );
}

/** The ways that use a table or column. */
function chosen(paths: readonly JoinPath[], via: string | undefined): readonly JoinPath[] {
  if (via === undefined || paths.length === 0) return paths;
  const wanted = via.toLowerCase();
  const isVia = (use: string) => use.toLowerCase() === wanted || wanted.endsWith(`.${use.toLowerCase()}`);
  const isColumn = (use: string) => use.toLowerCase().endsWith(`.${wanted}`);
  const found = paths.filter((path) => usesOf(path).some((use) => isVia(use) || isColumn(use)));
  if (found.length > 0) return found;
  throw new RequestError("not_found", `No way uses ${via}.`, {
    fix: `Choose one of: ${paths.map((path) => viaOf(path, paths)).join(", ")}.`,
  });
}

function noPath(from: TableFile, to: TableFile, pending: readonly PendingJoin[]): RequestError {
  const isSame = name(from) === name(to);
  const what = isSame
    ? `No join of ${name(from)} with itself is known.`
    : `No way is known from ${name(from)} to ${name(to)}.`;
  return new RequestError("not_found", [what, ...pending.map(reviewNote)].join(" "), {
    fix: isSame ? "Read it with table_describe." : "Look at both with table_describe.",
  });
}

async function filesOf(
  catalogue: CatalogueReader,
  connection: string,
  paths: readonly JoinPath[],
): Promise<Map<string, TableFile>> {
  const tables = new Map(
    paths.flatMap(({ steps }) => steps.flatMap(({ from, to }) => [from.table, to.table])).map((t) => [qualified(t), t]),
  );
  const files = await Promise.all(
    [...tables.values()].map(({ schema, name: table }) => catalogue.read({ connection, schema, table })),
  );
  return new Map(files.flatMap((file) => (file ? [[name(file), file] as const] : [])));
}

/** A catalogue contains accepted joins only. */
const relationshipsOf = (tables: readonly TableOutline[]): Relationship[] =>
  tables.flatMap((file) =>
    (file.joins ?? []).map(({ columns, to, toColumns, cardinality, origin, confidence, when, why }) => ({
      from: { table: place(file), columns },
      to: { table: split(to), columns: toColumns },
      origin: origin === "human" ? "declared" : origin,
      status: "accepted",
      confidence,
      cardinality,
      ...(when && { when }),
      why: why === undefined ? [] : [why],
    })),
  );

const place = ({ schema, table }: Pick<TableFile, "schema" | "table">) => ({ schema, name: table });
const qualified = (table: TableName) => `${table.schema}.${table.name}`;
const name = (file: TableFile) => qualified(place(file));
const round = (share: number) => Math.round(share * 100) / 100;

function split(text: string): TableName {
  const dot = text.indexOf(".");
  return { schema: text.slice(0, dot), name: text.slice(dot + 1) };
}
