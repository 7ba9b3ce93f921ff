import type { Connection, SkippedTable, Table, TableName } from "@tandem/connectors";
import { type Config, type ScanResult, TandemError } from "@tandem/protocol";
import { profileTables, type TableProfile } from "@tandem/relationships";
import { messageWithoutValues } from "../privacy/message-without-values.ts";
import { restrictTables } from "../privacy/restrict-tables.ts";
import type { Run } from "../runs/job-run.ts";
import type { Budget } from "../runs/metered-llm.ts";
import { estimateUsd, requireWithinLimit } from "../runs/spending-limit.ts";
import { describeTables } from "./describe-tables.ts";
import { draftTables } from "./draft-tables.ts";
import { findJoins } from "./find-joins.ts";
import { type KnownTable, knownTables, pathsOfTables } from "./known-tables.ts";
import { estimateScan } from "./plan-scan.ts";
import { proposeScan } from "./propose-scan.ts";
import { SCAN_ROLE } from "./scan-calls.ts";
import type { ScanContext } from "./scan-context.ts";
import { type ScannedTable, tableKey, tableLabel } from "../privacy/scanned-table.ts";
import { shownToModels } from "./shown-to-models.ts";
import { wantedDescriptions } from "./wanted-descriptions.ts";

export interface ScanInput {
  context: ScanContext;
  connectionName: string;
  connection: Connection;
  config: Config["scan"];
  /** The scan is rejected before its first model request if it is expected to spend more. */
  limit?: Budget;
}

/**
 * Reads a database and proposes its catalogue: structure, profile, descriptions, joins. Failures are listed and
 * skipped; unknown parts leave the catalogue unchanged.
 */
export async function scan(run: Run, input: ScanInput): Promise<ScanResult> {
  const { context, connectionName } = input;
  const { folder } = context;
  const usable = await usableMetrics(context, connectionName);
  const known = await knownTables(run, folder, connectionName);
  const { tables: all, skipped } = await readStructure(run, input, known.byPath.size);
  const pathOf = pathsOfTables(connectionName, all, known);
  const fileOf = (table: TableName) => known.byPath.get(pathOf(table));
  const readable = all.filter((table) => !known.unreadable.has(pathOf(table)));
  requireAffordable(run, input, readable, fileOf);
  const { scanned, ...found } = await examine(run, input, readable, fileOf);
  const present = new Set([...all, ...skipped].map(pathOf));
  const gone = [...known.byPath.values()].filter(({ path, file }) => !present.has(path) && !file.gone);
  const tables = scanned.map(({ table }) => table);
  const drafts = draftTables(run, scanned, { connectionName, folder, fileOf, pathOf, ...found });
  const result = await proposeScan(run, { connectionName, context, tables, fileOf, drafts, gone, ...found });
  return { ...result, brokenMetrics: await newlyBroken(context, connectionName, usable) };
}

/** Facts found in the tables' data. The rows that were read are discarded afterwards. */
async function examine(
  run: Run,
  input: ScanInput,
  readable: readonly Table[],
  fileOf: (table: TableName) => KnownTable | undefined,
) {
  const { connectionName, connection, config } = input;
  const profiled = await profile(run, input, readable);
  const restricted = restrictTables(
    connectionName,
    config.samples,
    profiled,
    ({ table }, column) => fileOf(table)?.file.columns.find(({ name }) => name === column)?.profile?.personal,
  );
  const { llm } = run;
  const wanted =
    llm && config.descriptions
      ? shownToModels(restricted.tables).filter(({ table: shown }) => {
          const { table, columns } = wantedDescriptions(shown, fileOf(shown)?.file);
          return table || columns.size > 0;
        })
      : undefined;
  const described =
    llm && wanted && (await describeTables(run, llm, wanted, { connection: connectionName, ...config }));
  const joins = await findJoins(run, profiled, restricted, { name: connectionName, connection, config });
  return { scanned: [...restricted.tables], described, joins, privacy: restricted.report };
}

function requireAffordable(
  run: Run,
  { config, limit }: ScanInput,
  tables: readonly Table[],
  fileOf: (table: TableName) => KnownTable | undefined,
): void {
  if (!run.llm) return;
  const toDescribe = tables.filter((table) => {
    const wanted = wantedDescriptions(table, fileOf(table)?.file);
    return config.descriptions && (wanted.table || wanted.columns.size > 0);
  });
  const { requests, usage } = estimateScan(tables, toDescribe, { config, hasModel: true });
  const total = requests.descriptions + requests.joins;
  const usd = estimateUsd(run.modelOf(SCAN_ROLE), { requests: total, ...usage });
  requireWithinLimit("scan", { requests: total, usd }, limit);
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
      fix: "Check the role's rights and the connection's schemas; the catalogue is unchanged.",
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
    isForCatalogue: true,
    signal: run.signal,
    onProgress: (done, total, table) =>
      run.emit({ type: "stage_progress", stage, done, total, item: tableLabel(table) }),
  });
  const withoutValues = (code: string, message: string) => new TandemError(code, messageWithoutValues(message, tables));
  const vanished = new Set<string>();
  for (const { table, code, message } of failures) {
    run.skip(stage, tableLabel(table), withoutValues(code, message));
    if (code === "not_there") vanished.add(tableKey(table));
  }
  for (const { schema, name, unreadable } of profiles) {
    for (const { name: column, code, message } of unreadable) {
      run.skip(stage, `${tableLabel({ schema, name })}.${column}`, withoutValues(code, message));
    }
  }
  const [first] = failures;
  if (first && failures.length === tables.length) throw withoutValues(first.code, first.message);
  run.emit({ type: "stage_finished", stage, counts: { tables: profiles.length, failed: failures.length } });
  const byTable = new Map<string, TableProfile>(profiles.map((each) => [tableKey(each), each]));
  return tables
    .filter((table) => !vanished.has(tableKey(table)))
    .map((table) => ({ table, profile: byTable.get(tableKey(table)) }));
}

/** Names of the metrics that can be computed now. */
async function usableMetrics({ metrics }: ScanContext, connection: string): Promise<ReadonlySet<string>> {
  const all = (await metrics?.list({ connection })) ?? [];
  return new Set(all.filter(({ broken }) => !broken).map(({ name }) => name));
}

/** Metrics that the catalogue no longer supports: a column, key or join has gone. */
async function newlyBroken(
  { metrics }: ScanContext,
  connection: string,
  usable: ReadonlySet<string>,
): Promise<NonNullable<ScanResult["brokenMetrics"]>> {
  const all = (await metrics?.list({ connection })) ?? [];
  return all.flatMap(({ name, entity, broken }) =>
    broken && usable.has(name) ? [{ name, path: `metrics/${connection}/${entity}.yaml`, ...broken }] : [],
  );
}
