import type { Dialect } from "@tandem/connectors";
import type { JoinStep, Relationship } from "@tandem/relationships";
import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import type { TableFile } from "../catalogue/table-file.ts";
import type { TableOutline } from "../catalogue/table-outline.ts";
import type { CatalogueReader } from "./catalogue-reader.ts";
import type { ContextTool } from "./context-tool.ts";
import { defineContextTool } from "./define-context-tool.ts";

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
});

export const joinTool = (
  catalogue: CatalogueReader,
  dialectOf: (connection: string) => Dialect | undefined,
): ContextTool =>
  defineContextTool({
    name: "join_path",
    title: "Find how two tables join",
    description:
      "The way from one table to another over joins that are known, with the exact condition of each step, and warnings where rows are multiplied (fan-out) or where there is more than one way to join. Use its conditions as they are instead of guessing from column names. Takes tables as `table_describe` does; both must be of one connection.",
    input: z.object({
      from: z.string().min(1).max(500),
      to: z.string().min(1).max(500),
      connection: z.string().optional(),
    }),
    output: foundPath,
    readOnly: true,
    run: async (input) => {
      const [from, to] = [
        await catalogue.find(input.from, input.connection),
        await catalogue.find(input.to, input.connection),
      ];
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
      const { joinPath } = await import("@tandem/relationships");
      const path = joinPath(joins, place(from), place(to));
      if (!path) {
        throw new RequestError("not_found", `No way is known from ${name(from)} to ${name(to)}.`, {
          fix: "Look at both with table_describe.",
        });
      }
      const quote = quoteFor(dialectOf(connection));
      const written = (table: { schema: string; name: string }) => `${quote(table.schema)}.${quote(table.name)}`;
      const steps = path.steps.map((step) => ({
        from: qualified(step.from.table),
        to: qualified(step.to.table),
        condition: conditionOf(step, joins, written, quote),
        cardinality: step.cardinality,
        confidence: round(step.confidence),
      }));
      const joined = path.steps.map(({ to }, at) => `JOIN ${written(to.table)} ON ${steps[at]!.condition}`);
      const sql = [`FROM ${written(place(from))}`, ...joined].join("\n");
      const markdown = [`\`\`\`sql\n${sql}\n\`\`\``, ...path.warnings.map((warning) => `- ${warning}`)].join("\n");
      const confidence = round(path.confidence);
      return { markdown, structured: { connection, steps, sql, confidence, warnings: [...path.warnings] } };
    },
  });

type Quote = (identifier: string) => string;

/** Quotes names that are not plain; in Postgres, uppercase is not plain. */
const quoteFor =
  (dialect: Dialect | undefined): Quote =>
  (identifier) => {
    if (/^[a-z_][a-z0-9_]*$/.test(identifier) && !RESERVED.has(identifier)) return identifier;
    return dialect === "mysql" ? `\`${identifier.replaceAll("`", "``")}\`` : `"${identifier.replaceAll('"', '""')}"`;
  };

const RESERVED = new Set(
  "all and any as asc between by case cast check column create cross current_date default desc distinct else end except false for foreign from full grant group having in inner intersect into is join key left like limit natural not null on or order outer primary references right row rows select set table then to true union unique update user using values when where with".split(
    " ",
  ),
);

/** The condition in this dialect, with qualified tables. */
function conditionOf(
  { from, to, condition }: JoinStep,
  joins: readonly Relationship[],
  written: (table: { schema: string; name: string }) => string,
  quote: Quote,
): string {
  const pairs = from.columns.map(
    (column, at) => `${written(from.table)}.${quote(column)} = ${written(to.table)}.${quote(to.columns[at]!)}`,
  );
  // A polymorphic reference applies to some rows only, in both directions.
  const link = joins.find((join) => join.when && isSame(join, from, to));
  const when = link?.when && condition.includes(`${link.when.column} = `) ? link : undefined;
  if (when?.when) {
    pairs.push(`${written(when.from.table)}.${quote(when.when.column)} = '${when.when.equals.replaceAll("'", "''")}'`);
  }
  return pairs.join(" AND ");
}

const isSame = (join: Relationship, from: JoinStep["from"], to: JoinStep["to"]): boolean => {
  const ends = [endOf(join.from), endOf(join.to)].toSorted().join(" ");
  return ends === [endOf(from), endOf(to)].toSorted().join(" ");
};
const endOf = ({ table, columns }: JoinStep["from"]): string => `${qualified(table)}(${columns.join(",")})`;

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
const qualified = (table: { schema: string; name: string }) => `${table.schema}.${table.name}`;
const name = (file: TableFile) => qualified(place(file));
const round = (share: number) => Math.round(share * 100) / 100;

function split(text: string): { schema: string; name: string } {
  const dot = text.indexOf(".");
  return { schema: text.slice(0, dot), name: text.slice(dot + 1) };
}
