import type { SEARCH_KINDS } from "@tandem/protocol";
import { createHash } from "node:crypto";
import { type MetricsFile, metricsFile } from "@tandem/metrics";
import type { SearchDocument } from "@tandem/storage";
import { type Descriptions, parseTableFile, type TableFile } from "../catalogue/table-file.ts";
import { tableKey } from "../catalogue/table-path.ts";
import { parseEvalFile } from "../formats/eval-file.ts";
import { describeProblem, type FileProblem } from "../formats/file-problem.ts";
import { isExpired, type MemoryFile, parseMemory } from "../formats/memory-file.ts";
import { connectionOf, isMetricsPath } from "../metric-definitions/metrics-path.ts";
import { readYaml } from "../formats/read-yaml.ts";
import { type PageFile, pageKeyOf, parsePage } from "../wiki/page-file.ts";

export { SEARCH_KINDS } from "@tandem/protocol";

/** Kinds of search results. `value` matches a column's sampled values. */
export type SearchKind = (typeof SEARCH_KINDS)[number];

/** Increment when the same file would give other documents or terms. */
export const FORM = 2;

export type Found = Omit<SearchDocument, "hash"> & { kind: SearchKind };

/** The effective description: a person's, else a model's, else the database's. */
export const described = (descriptions: Descriptions | undefined): string =>
  descriptions?.human ?? descriptions?.ai ?? descriptions?.db ?? "";

export interface DocumentsOfFile {
  documents: Found[];
  /** When the same file gives other documents: a memory expires. */
  until: string | null;
  /** Problem of the file. */
  problem: string | null;
}

/** Searchable documents of a context file. */
export function documentsOf(path: string, text: string, now: Date): DocumentsOfFile {
  if (path.startsWith("catalogue/")) {
    const parsed = parseTableFile(text);
    return parsed.success ? found(tableDocuments(parsed.table)) : unreadable(parsed.problems);
  }
  if (isMetricsPath(path)) {
    const read = readYaml(text, metricsFile);
    return read.success ? found(metricDocuments(connectionOf(path), read.value)) : unreadable(read.problems);
  }
  if (path.startsWith("evals/")) {
    // Never searchable: an agent would find the answers.
    const parsed = parseEvalFile(text);
    return parsed.success ? found([]) : unreadable(parsed.problems);
  }
  if (path.startsWith("memory/")) {
    const parsed = parseMemory(text);
    if (!parsed.success) return unreadable(parsed.problems);
    const { expiresAt } = parsed.memory;
    // Memories in a program's own store are not searchable here.
    const isOver = isExpired(parsed.memory, now) || parsed.memory.store !== undefined;
    return isOver ? found([]) : { ...found(memoryDocuments(parsed.memory)), until: expiresAt };
  }
  const key = pageKeyOf(path);
  if (key === undefined) return found([]);
  const parsed = parsePage(key, text);
  return parsed.success ? found(pageDocuments(parsed.page)) : unreadable(parsed.problems);
}

const found = (documents: Found[]): DocumentsOfFile => ({ documents, until: null, problem: null });

const unreadable = (problems: readonly FileProblem[]): DocumentsOfFile => ({
  ...found([]),
  problem: problems.map(describeProblem).join(" "),
});

/** A binary file: people may keep images beside pages. */
export const unreadableFile = (path: string, problem: string): DocumentsOfFile =>
  path.startsWith("wiki/") && pageKeyOf(path) === undefined ? found([]) : { ...found([]), problem };

function tableDocuments(file: TableFile): Found[] {
  const { connection, schema, table } = file;
  const place = `${connection}/${schema}.${table}`;
  const filters = { connection, schema, table };
  const description = described(file.descriptions);
  const columns = file.columns.flatMap((column): Found[] => {
    const own = described(column.descriptions);
    const samples = column.profile?.samples ?? [];
    const title = `${table}.${column.name}`;
    return [
      { key: `column:${place}.${column.name}`, kind: "column", title, text: join([own, column.type]), filters },
      ...(samples.length === 0
        ? []
        : [{ key: `value:${place}.${column.name}`, kind: "value" as const, title, text: samples.join("\n"), filters }]),
    ];
  });
  const names = file.columns.map(({ name }) => name).join(" ");
  const text = join([
    description,
    file.notes ?? "",
    names,
    ...file.columns.map((column) => described(column.descriptions)),
  ]);
  return [{ key: tableKey(file), kind: "table", title: `${schema}.${table}`, text, filters }, ...columns];
}

const metricDocuments = (connection: string, { entity, table, metrics = {} }: MetricsFile): Found[] =>
  Object.entries(metrics).map(([name, { label, description = "", aka = [], unit = "", owner = "" }]) => ({
    key: `metric:${connection}/${name}`,
    kind: "metric",
    title: label === undefined ? name : `${label} (${name})`,
    text: join([description, aka.join(" "), unit, owner, entity]),
    filters: { connection, table: table.slice(table.indexOf(".") + 1) },
  }));

const pageDocuments = (page: PageFile): Found[] => [
  {
    key: `page:${page.key}`,
    kind: "page",
    title: page.title,
    text: join([page.summary, page.tags.join(" "), page.body]),
    filters: { tag: page.tags },
  },
];

const memoryDocuments = (memory: MemoryFile): Found[] => [
  {
    key: `memory:${memory.id}`,
    kind: "memory",
    title: memory.text.split("\n", 1)[0]!.slice(0, 120),
    text: join([memory.text, memory.tags.join(" ")]),
    filters: { scope: memory.scope, ...(memory.agent !== undefined && { agent: memory.agent }), tag: memory.tags },
  },
];

export const hashOf = (document: Found): string =>
  createHash("sha256")
    .update(JSON.stringify([FORM, document]))
    .digest("hex")
    .slice(0, 32);

const join = (parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n");
