import { editYaml } from "@tandem/workspace";
import { type Document, isMap, isSeq, YAMLMap, YAMLSeq } from "yaml";
import { type LocatedTable, locateTable } from "../../catalogue/locate-table.ts";
import { type JoinEntry, parseTableFile, type TableFile } from "../../catalogue/table-file.ts";
import { tableLines } from "../../catalogue/table-lines.ts";
import { tableKey } from "../../catalogue/table-path.ts";
import { oneLine } from "../../catalogue/one-line.ts";
import { joinKey } from "../../catalogue/table-values.ts";
import type { ContextFolder } from "../../folder/context-folder.ts";
import type { Draft, Support } from "../../draft.ts";
import type { Chunk, DocumentRecord } from "../evidence/document-record.ts";
import { readChunks } from "../evidence/read-evidence.ts";
import type { ContextStore } from "../../sources/context-store.ts";
import { asEvidence } from "../workbench/evidence-store.ts";
import type { Catalogue } from "../workbench/ingest-line.ts";
import { type DbtTable, readDbtDocument } from "./read-dbt-document.ts";
import type { FileProblem } from "../../formats/file-problem.ts";

export interface TableDraft extends Draft {
  artifact: string;
  documents: string[];
}

/**
 * Turns dbt projects' statements about tables into changes of their catalogue files, without a model. A project's
 * descriptions count as people's text, but never replace text written in the file itself. `relationships` tests become
 * joins of a person, unverified.
 */
export async function draftDbt(
  parts: { folder: ContextFolder; store: ContextStore; catalogue: Catalogue },
  documents: readonly DocumentRecord[],
): Promise<TableDraft[]> {
  const { folder, store, catalogue } = parts;
  const byTable = new Map<string, LocatedTable & { found: { dbt: DbtTable; document: string }[] }>();
  for (const { type, connection, title, chunks, citation } of documents) {
    if (type !== "dbt" || connection === undefined) continue;
    const dbt = readDbtDocument(title, await readChunks(store, chunks));
    const file = dbt && findTable(catalogue, connection, dbt.relation);
    if (!dbt || !file) continue;
    const key = tableKey(file);
    const known = byTable.get(key);
    if (known) {
      known.found.push({ dbt, document: citation });
      continue;
    }
    const located = await locateTable(folder, file);
    if (located) byTable.set(key, { ...located, found: [{ dbt, document: citation }] });
  }
  const hand = await folder.handLines([...byTable.values()].map(({ path }) => path));
  const drafts: TableDraft[] = [];
  for (const { path, text: before, file, found } of byTable.values()) {
    const draft = draftTable(path, before, found, { catalogue, hand: hand.get(path) ?? new Set() });
    if (draft) drafts.push({ ...draft, artifact: tableKey(file), documents: found.map(({ document }) => document) });
  }
  return drafts;
}

/** Matches the last two names case-insensitively, or the last one if it is unique. */
function findTable(catalogue: Catalogue, connection: string, relation: string): TableFile | undefined {
  const tables = catalogue.ofConnection(connection);
  const parts = relation.toLowerCase().split(".");
  const [schema, name] = [parts.at(-2), parts.at(-1)];
  const named = tables.filter(({ table }) => table.toLowerCase() === name);
  const exact = named.find((table) => table.schema.toLowerCase() === schema);
  return exact ?? (named.length === 1 ? named[0] : undefined);
}

function draftTable(
  path: string,
  before: string,
  found: readonly { dbt: DbtTable }[],
  { catalogue, hand }: { catalogue: Catalogue; hand: ReadonlySet<number> },
): Draft | undefined {
  const current = parseTableFile(before);
  if (!current.success) return undefined;
  const byHand = handWords(before, hand);
  const joins = found.flatMap(({ dbt }) => joinsOf(current.table, dbt, catalogue));
  const known = new Set((current.table.joins ?? []).map(joinKey));
  const wanted = [...new Map(joins.map((join) => [joinKey(join), join])).values()].filter(
    (join) => !known.has(joinKey(join)),
  );
  const after = editYaml(before, (document) => {
    const top = document.contents;
    if (!isMap(top)) return;
    for (const { dbt } of found) {
      if (!byHand.has("")) describe(document, top, dbt.description);
      const columns = top.get("columns", true);
      for (const entry of isSeq(columns) ? columns.items : []) {
        if (!isMap(entry)) continue;
        const name = String(entry.get("name"));
        const column = dbt.columns.find((each) => each.name.toLowerCase() === name.toLowerCase());
        if (column && !byHand.has(name)) describe(document, entry, column.description);
      }
    }
    if (wanted.length > 0) {
      const seq = top.get("joins", true);
      const list = isSeq(seq) ? seq : new YAMLSeq();
      if (!isSeq(seq)) top.set("joins", list);
      for (const join of wanted) list.add(joinNode(document, join));
    }
  });
  if (after === before || checkTable(after, catalogue).length > 0) return undefined;
  const cited = (pick: (dbt: DbtTable) => readonly (Chunk | undefined)[]) =>
    found.flatMap(({ dbt }) => pick(dbt)).flatMap((chunk) => (chunk ? [asEvidence(chunk)] : []));
  const words = cited(({ cited: { description, columns } }) => [description, ...columns]);
  const tests = cited(({ cited: { joins: passages } }) => passages);
  const support = tableLines(after).map(({ from, to, aspect }): Support =>
    aspect === "join"
      ? { from, to, aspect: "join", evidence: tests }
      : { from, to, aspect: "description", evidence: words },
  );
  return { path, before, after, support };
}

/** Columns (the empty name for the table) whose `human` text was written or changed in the file. */
function handWords(text: string, hand: ReadonlySet<number>): Set<string> {
  const lines = text.split("\n");
  const found = new Set<string>();
  for (const { from, to, aspect, column } of tableLines(text)) {
    if (aspect !== "own" || !/^\s*(descriptions:.*)?human:/.test(lines[from - 1] ?? "")) continue;
    for (let line = from; line <= to; line += 1) if (hand.has(line)) found.add(column ?? "");
  }
  return found;
}

function describe(document: Document, map: YAMLMap, given: string): void {
  const words = oneLine(given);
  if (words === "") return;
  const node = map.get("descriptions", true);
  const descriptions = isMap(node) ? node : new YAMLMap();
  if (descriptions.get("human") === words) return;
  if (descriptions.has("human")) descriptions.set("human", words);
  else descriptions.items.unshift(document.createPair("human", words));
  if (!isMap(node)) map.set("descriptions", descriptions);
}

function joinsOf(table: TableFile, dbt: DbtTable, catalogue: Catalogue): JoinEntry[] {
  return dbt.joins.flatMap(({ column, to, toColumn }): JoinEntry[] => {
    const target = findTable(catalogue, table.connection, to);
    const own = nameIn(table, column);
    const theirs = target && nameIn(target, toColumn);
    if (!target || own === undefined || theirs === undefined) return [];
    return [
      {
        columns: [own],
        to: `${target.schema}.${target.table}`,
        toColumns: [theirs],
        cardinality: "many-to-one",
        origin: "human",
        confidence: 0.9,
        why: "A relationships test of the dbt project says so.",
      },
    ];
  });
}

const nameIn = ({ columns }: TableFile, wanted: string): string | undefined =>
  columns.find(({ name }) => name.toLowerCase() === wanted.toLowerCase())?.name;

function joinNode(document: Document, join: JoinEntry): YAMLMap {
  const map = new YAMLMap();
  for (const [key, value] of Object.entries(join)) map.set(key, document.createNode(value, { flow: true }));
  return map;
}

/** Problems of a table's file: its YAML, and joins between missing columns. */
function checkTable(text: string, catalogue: Catalogue): FileProblem[] {
  const parsed = parseTableFile(text);
  if (!parsed.success) return parsed.problems;
  const { connection, columns, joins = [] } = parsed.table;
  const own = new Set(columns.map(({ name }) => name));
  return joins.flatMap(({ columns: from, to, toColumns }): FileProblem[] => {
    const target = catalogue.get(`${connection}/${to}`);
    const there = new Set(target?.columns.map(({ name }) => name));
    const missing = [
      ...from.filter((name) => !own.has(name)),
      ...(target ? toColumns.filter((name) => !there.has(name)).map((name) => `${to}.${name}`) : [to]),
    ];
    if (missing.length === 0 && from.length === toColumns.length) return [];
    const message =
      missing.length > 0
        ? `A join names unknown tables or columns: ${missing.join(", ")}.`
        : `A join pairs ${from.length} columns with ${toColumns.length}.`;
    return [{ type: "unknown_join", line: undefined, message }];
  });
}
