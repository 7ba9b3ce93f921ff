import { setImmediate } from "node:timers/promises";
import type { Table, TableName } from "@tandem/connectors";
import type { Relationship } from "@tandem/relationships";
import { joinKey, newJoinEntry } from "../catalogue/table-values.ts";
import { updateTableFile } from "../catalogue/update-table-file.ts";
import type { ContextFolder } from "../folder/context-folder.ts";
import type { Draft } from "../draft.ts";
import type { Run } from "../runs/job-run.ts";
import { SCAN_ROLE } from "./scan-calls.ts";
import type { Described } from "./describe-tables.ts";
import type { FoundJoins } from "./find-joins.ts";
import { joinsByTable, joinsOfTable } from "./joins-of-table.ts";
import type { KnownTable } from "./known-tables.ts";
import type { TableDescription } from "./read-descriptions.ts";
import { type ScannedTable, tableKey, tableLabel } from "../privacy/scanned-table.ts";
import { wantedDescriptions } from "./wanted-descriptions.ts";
import { readOutline } from "../catalogue/table-outline.ts";
import type { JoinEntry } from "../catalogue/table-file.ts";

export const PROPOSAL_STAGE = "proposal";

export interface Findings {
  connectionName: string;
  folder: Pick<ContextFolder, "handEdits">;
  fileOf: (table: TableName) => KnownTable | undefined;
  pathOf: (table: TableName) => string;
  described: Described | undefined;
  joins: FoundJoins | undefined;
}

/** The desired table files, without unchanged ones. Empties `tables`, so that profiles are in memory only until they are used. */
export async function* draftTables(
  run: Run,
  tables: ScannedTable[],
  { connectionName, folder, fileOf, pathOf, described, joins }: Findings,
): AsyncGenerator<Draft, void> {
  const wantedJoins = joins && (await joinsOfTables(tables, { folder, fileOf, joins }));
  const total = tables.length;
  run.emit({ type: "stage_started", stage: PROPOSAL_STAGE, total });
  tables.reverse();
  for (let scanned = tables.pop(); scanned; scanned = tables.pop()) {
    const { table, profile } = scanned;
    const done = total - tables.length - 1;
    run.emit({ type: "stage_progress", stage: PROPOSAL_STAGE, done, total, item: tableLabel(table) });
    const known = fileOf(table);
    const description = described?.descriptions.get(tableKey(table));
    const draft = updateTableFile(
      {
        connection: connectionName,
        table,
        path: pathOf(table),
        ...(profile && { profile }),
        ...(wantedJoins && { joins: wantedJoins.get(table)! }),
        ...(joins && { compositeKeys: joins.compositeKeys.get(tableKey(table)) ?? [] }),
        ...(description && { descriptions: onlyWanted(scanned, known, description) }),
        ...(run.llm && { model: run.modelOf(SCAN_ROLE) }),
      },
      known?.text ?? null,
      known?.hand,
      known?.file,
    );
    if (draft.after !== draft.before) yield draft;
    // Yield: hundreds of files are written, and the process serves other work.
    await setImmediate();
    run.signal.throwIfAborted();
  }
}

/** Desired joins per file, without those that a person deleted. */
async function joinsOfTables(
  tables: readonly ScannedTable[],
  { folder, fileOf, joins }: Pick<Findings, "folder" | "fileOf"> & { joins: FoundJoins },
): Promise<Map<Table, readonly Relationship[]>> {
  const found = {
    ...joins,
    byTable: joinsByTable(joins.relationships),
    looked: new Set(tables.filter(({ profile }) => profile).map(({ table }) => tableLabel(table))),
  };
  const wanted = tables.map((scanned) => {
    const known = fileOf(scanned.table);
    return { table: scanned.table, known, joins: joinsOfTable(scanned, known?.file, found) };
  });
  const inFiles = wanted.flatMap(({ known, joins: own }) => (known ? [{ known, joins: own }] : []));
  const deleted = await deletedJoins(folder, inFiles);
  return new Map(
    wanted.map(({ table, known, joins: own }) => {
      const unwanted = known && deleted.get(known.path);
      if (!unwanted) return [table, own];
      const present = new Set(known.file.joins?.map(joinKey));
      const isLeft = (key: string) => present.has(key) || !unwanted.has(key);
      return [table, own.filter((join) => isLeft(joinKey(newJoinEntry(join))))];
    }),
  );
}

/** The model described the whole table; keep existing descriptions. */
function onlyWanted({ table }: ScannedTable, known: KnownTable | undefined, description: TableDescription) {
  const wanted = wantedDescriptions(table, known?.file);
  const columns = [...description.columns].filter(([name]) => wanted.columns.has(name));
  return {
    ...(wanted.table && description.table !== "" && { table: description.table }),
    columns: Object.fromEntries(columns),
  };
}

/**
 * Joins that people deleted from files, by path; they must not come back. Only checks files that would get new joins.
 */
async function deletedJoins(
  folder: Pick<ContextFolder, "handEdits">,
  wanted: readonly { known: KnownTable; joins: readonly Relationship[] }[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const missing = wanted.filter(({ known, joins }) => {
    const present = keysOf(known.file.joins);
    return joins.some((join) => join.status !== "rejected" && !present.has(joinKey(newJoinEntry(join))));
  });
  const deleted = new Map<string, Set<string>>();
  if (missing.length === 0) return deleted;
  const edits = await folder.handEdits(missing.map(({ known }) => known.path));
  for (const [path, changes] of edits) {
    const keys = changes.flatMap(({ before, after }) => {
      const left = keysOf(readOutline(after)?.joins);
      // A temporarily broken file has lost nothing.
      return readOutline(after) ? [...keysOf(readOutline(before)?.joins)].filter((key) => !left.has(key)) : [];
    });
    if (keys.length > 0) deleted.set(path, new Set(keys));
  }
  return deleted;
}

const keysOf = (joins: readonly JoinEntry[] | undefined): Set<string> => new Set(joins?.map(joinKey));
