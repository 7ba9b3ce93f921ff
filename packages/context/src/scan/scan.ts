import type { Connection, SkippedTable, Table } from "@tandem/connectors";
import { type Config, TandemError } from "@tandem/protocol";
import { profileTables, type TableProfile } from "@tandem/relationships";
import type { Run } from "../runs/job-run.ts";
import { describeTables } from "./describe-tables.ts";
import { draftTables } from "./draft-tables.ts";
import { findJoins } from "./find-joins.ts";
import { knownTables, pathsOfTables } from "./known-tables.ts";
import { proposeScan } from "./propose-scan.ts";
import type { ScanContext, ScanResult } from "./scan-result.ts";
import { type ScannedTable, tableKey, tableLabel } from "./scanned-table.ts";
import { shownToModels } from "./shown-to-models.ts";
import { wantedDescriptions } from "./wanted-descriptions.ts";

export interface ScanInput {
  context: ScanContext;
  connectionName: string;
  connection: Connection;
  config: Config["scan"];
}

/**
 * Reads a database and proposes its catalogue: structure, profile, descriptions, joins. Failures are listed and
 * skipped; unknown parts leave the catalogue unchanged.
 */
export async function scan(run: Run, input: ScanInput): Promise<ScanResult> {
  const { context, connectionName, connection, config } = input;
  const known = await knownTables(run, context.folder, connectionName);
  const { tables: all, skipped } = await readStructure(run, input, known.byPath.size);
  const pathOf = pathsOfTables(connectionName, all, known);
  const fileOf = ({ table }: ScannedTable) => known.byPath.get(pathOf(table));
  const readable = all.filter((table) => !known.unreadable.has(pathOf(table)));
  const tables = await profile(run, input, readable);

  const { llm } = run;
  const wanted =
    llm && config.descriptions
      ? shownToModels(tables).filter((scanned) => {
          const { table, columns } = wantedDescriptions(scanned.table, fileOf(scanned)?.file);
          return table || columns.size > 0;
        })
      : undefined;
  const described =
    llm && wanted && (await describeTables(run, llm, wanted, { connection: connectionName, ...config }));
  const joins = await findJoins(run, tables, { name: connectionName, connection, config });

  const present = new Set([...all, ...skipped].map(pathOf));
  const gone = [...known.byPath.values()].filter(({ path, file }) => !present.has(path) && !file.gone);
  const { folder } = context;
  const drafts = await draftTables(run, tables, { connectionName, folder, fileOf, pathOf, described, joins });
  return await proposeScan(run, { connectionName, context, tables, fileOf, drafts, gone, described, joins });
}

/** Unreadable tables are listed, but count as existing. */
async function readStructure(
  run: Run,
  { connection, connectionName }: ScanInput,
  known: number,
): Promise<{ tables: Table[]; skipped: SkippedTable[] }> {
  const stage = "structure";
  run.emit({ type: "stage_started", stage, total: null });
  const skipped: SkippedTable[] = [];
  const tables = await connection.structure({ signal: run.signal, onSkipped: (item) => skipped.push(item) });
  for (const item of skipped) run.skip(stage, tableLabel(item), new TandemError("not_supported", item.reason));
  if (tables.length === 0 && known > 0) {
    throw new TandemError("nothing_there", `${connectionName} shows no tables, though the catalogue has ${known}.`, {
      fix: "Check the role's rights and the connection's schemas; the catalogue is left as it is.",
    });
  }
  const views = tables.filter(({ type }) => type === "view").length;
  run.emit({ type: "stage_finished", stage, counts: { tables: tables.length - views, views } });
  return { tables, skipped };
}

/** A vanished table is dropped; one that cannot be sampled continues without a profile. */
async function profile(run: Run, { connection, config }: ScanInput, tables: readonly Table[]): Promise<ScannedTable[]> {
  const stage = "profile";
  run.emit({ type: "stage_started", stage, total: tables.length });
  const { profiles, failures } = await profileTables(connection, tables, {
    sampleRows: config.sampleRows,
    concurrency: config.concurrency,
    timeoutMs: config.queryDeadline,
    signal: run.signal,
    onProgress: (done, total, table) =>
      run.emit({ type: "stage_progress", stage, done, total, item: tableLabel(table) }),
  });
  const vanished = new Set<string>();
  for (const { table, code, message } of failures) {
    run.skip(stage, tableLabel(table), new TandemError(code, message));
    if (code === "not_there") vanished.add(tableKey(table));
  }
  const [first] = failures;
  if (first && failures.length === tables.length) throw new TandemError(first.code, first.message);
  run.emit({ type: "stage_finished", stage, counts: { tables: profiles.length, failed: failures.length } });
  const byTable = new Map<string, TableProfile>(profiles.map((each) => [tableKey(each), each]));
  return tables
    .filter((table) => !vanished.has(tableKey(table)))
    .map((table) => ({ table, profile: byTable.get(tableKey(table)) }));
}
