import { isStale } from "../catalogue/stale-description.ts";
import type { ColumnEntry, JoinEntry, SharedJoin, TableFile } from "../catalogue/table-file.ts";
import { described } from "../search/documents.ts";
import { shownCount } from "./shown-count.ts";
import type { PageSummary } from "../wiki/page-summary.ts";

/** All values of a domain up to this size are shown; a longer list would fill an agent's window. */
const SHOWN_VALUES = 30;
const SHOWN_EXAMPLES = 4;

export interface TableDetails {
  file: TableFile;
  columns: readonly ColumnEntry[];
  joinedFrom: readonly (SharedJoin & { from: string })[];
  pages: readonly Pick<PageSummary, "key" | "title" | "summary">[];
  metrics: readonly { name: string; description: string }[];
}

/** A table for a model or a person. */
export function tableMarkdown({ file, columns, joinedFrom, pages, metrics }: TableDetails): string {
  const { schema, table, joins = [], checks = [] } = file;
  const list = (title: string, lines: readonly string[]) =>
    lines.length > 0 && [title, ...lines.map((line) => `- ${line}`)].join("\n");
  return [
    `# ${schema}.${table}`,
    described(file.descriptions),
    `${factsOf(file).join(", ")}.${file.profiled === "sample" ? " Figures of the columns are from a sample of its rows." : ""}`,
    ["| column | type | meaning | values |", "| --- | --- | --- | --- |", ...columns.map(row)].join("\n"),
    list("The database enforces:", checks),
    list("Joins:", joins.map(joinLine)),
    list(
      "Joined from:",
      joinedFrom.map(({ from, columns, toColumns }) => `${from} (${columns.join(", ")}) → (${toColumns.join(", ")})`),
    ),
    list(
      "Pages about it (read with page_read):",
      pages.map(({ key, title, summary }) => `page:${key} ${title}${summary ? `: ${summary}` : ""}`),
    ),
    list(
      "Metrics computed from it (use metric_query for these figures):",
      metrics.map(({ name, description }) => `${name}${description ? `: ${description}` : ""}`),
    ),
    file.notes,
  ]
    .filter(Boolean)
    .join("\n\n");
}

function factsOf({ connection, type, rows, rowsAre, ...file }: TableFile): string[] {
  const { gone, primaryKey = [], uniqueKeys = [], verifiedKeys = [] } = file;
  return [
    `${type === "view" ? "View" : "Table"} of the connection \`${connection}\``,
    ...(gone ? ["no longer in the database"] : []),
    ...(rows === undefined ? [] : [`${shownCount(rows, rowsAre)} rows`]),
    ...(primaryKey.length === 0 ? [] : [`primary key (${primaryKey.join(", ")})`]),
    ...uniqueKeys.map((key) => `unique (${key.join(", ")})`),
    ...verifiedKeys.map(
      ({ columns, of }) => `unique in the data (${columns.join(", ")})${of === "sample" ? " by a sample" : ""}`,
    ),
  ];
}

function joinLine({ columns, to, toColumns, cardinality, origin, confidence, evidence, when }: JoinEntry): string {
  const only = when ? `, only where ${when.column} = '${when.equals}'` : "";
  const sure = origin === "declared" || origin === "human" ? origin : `confidence ${confidence}`;
  const seen = evidence
    ? `, ${evidence.matched} of ${evidence.compared} values found${evidence.of === "sample" ? " in a sample" : ""}`
    : "";
  return `(${columns.join(", ")}) → ${to} (${toColumns.join(", ")}), ${cardinality}${only}, ${sure}${seen}`;
}

function row(column: ColumnEntry): string {
  const { name, type, nullable, gone, descriptions } = column;
  const stale = isStale(column) ? `(stale, written for ${descriptions?.aiFor}) ` : "";
  const cells = [
    `${name}${gone ? " (gone)" : ""}`,
    `${type}${nullable ? "" : " not null"}`,
    `${stale}${described(descriptions)}`,
  ];
  // Values are cut by number, not by characters: half a value would mislead.
  return `| ${[...cells.map((text) => cut(text)), valuesOf(column)].map(cell).join(" | ")} |`;
}

function valuesOf({ labels, profile }: ColumnEntry): string {
  const { nulls, distinct, distinctIs, min, max, samplesAre } = profile ?? {};
  const isAll = samplesAre === "all" && (profile?.samples?.length ?? 0) <= SHOWN_VALUES;
  return [
    ...(labels
      ? [`one of ${labels.slice(0, SHOWN_VALUES).map(quoted).join(", ")}${labels.length > SHOWN_VALUES ? ", …" : ""}`]
      : []),
    ...(nulls ? [nulls === 1 ? "always null" : `${Math.round(nulls * 100)} % null`] : []),
    ...(distinct === undefined || isAll ? [] : [`${shownCount(distinct, distinctIs)} distinct`]),
    ...(min === undefined || max === undefined ? [] : [`${min} to ${max}`]),
    ...listed(profile),
  ].join("; ");
}

function listed(profile: ColumnEntry["profile"]): string[] {
  if (profile?.stored) {
    const what = profile.personal ? `personal data (${profile.personal})` : "values";
    const shapes = (profile.shapes ?? []).slice(0, 3).map(quoted);
    const how = profile.stored === "shapes" ? "stored as shapes" : "not stored";
    return [`${what}, ${how}${shapes.length > 0 ? `: ${shapes.join(", ")}` : ""}`];
  }
  const { samples = [], samplesAre } = profile ?? {};
  if (samples.length === 0) return [];
  const isWhole = samplesAre !== undefined && samplesAre !== "examples" && samples.length <= SHOWN_VALUES;
  if (!isWhole) return [`e.g. ${samples.slice(0, SHOWN_EXAMPLES).map(quoted).join(", ")}`];
  return [`${samplesAre === "all" ? "all values" : "values in a sample"}: ${samples.map(quoted).join(", ")}`];
}

const quoted = (value: string | number | boolean): string => JSON.stringify(value);
const cut = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 300);
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ");
