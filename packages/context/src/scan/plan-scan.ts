import type { Config, Usage } from "@tandem/protocol";
import { noUsage } from "@tandem/protocol";
import type { Connection, Table } from "@tandem/connectors";
import type { ContextFolder } from "../folder/context-folder.ts";
import { DESCRIPTION_SYSTEM } from "./description-prompt.ts";
import { inBatches } from "../runs/in-batches.ts";
import { JOIN_LIMITS } from "./suggest-joins.ts";
import { JOIN_SYSTEM } from "./join-prompt.ts";
import { knownTables, pathsOfTables } from "./known-tables.ts";
import { descriptionLimits, portionsOf, portionSize } from "./portion.ts";
import { wantedDescriptions } from "./wanted-descriptions.ts";

export interface ScanPlan {
  connection: string;
  tables: number;
  views: number;
  /** The database's estimate; null if unknown. */
  rows: number | null;
  /** Approximate number of queries. */
  queries: number;
  /** Tables to be described by a model. */
  toDescribe: number;
  /** Upper bound: cached answers are not requested again. */
  requests: { descriptions: number; joins: number };
  usage: Usage;
}

// Rough estimates of prompt and answer lengths.
const SAMPLE_CHARACTERS = 60;
const CHARACTERS_PER_TOKEN = 3.5;
const TOKENS_PER_COLUMN = 35;
const TOKENS_PER_TABLE = 60;
const TOKENS_PER_JOIN_CALL = 1_500;
const QUERIES_PER_TABLE = 3;

/** Previews a scan's reads and requests. Reads the structure, but no rows. */
export async function planScan(input: {
  /** Undefined if there is no context yet. */
  folder: ContextFolder | undefined;
  connectionName: string;
  connection: Connection;
  config: Config["scan"];
  hasModel: boolean;
  signal: AbortSignal;
}): Promise<ScanPlan> {
  const { folder, connectionName, connection, config, hasModel, signal } = input;
  const known = folder && (await knownTables({ signal, skip: () => {} }, folder, connectionName));
  const tables = await connection.structure({ signal });
  const pathOf = pathsOfTables(connectionName, tables, known ?? { byPath: new Map() });
  const wanted = tables.filter((table) => {
    const path = pathOf(table);
    const wants = wantedDescriptions(table, known?.byPath.get(path)?.file);
    return !known?.unreadable.has(path) && (wants.table || wants.columns.size > 0);
  });
  const toDescribe = hasModel && config.descriptions ? wanted : [];
  const { requests, usage } = estimateScan(tables, toDescribe, { config, hasModel });
  const views = tables.filter(({ type }) => type === "view").length;
  const estimates = tables.map(({ estimatedRows }) => estimatedRows);
  return {
    connection: connectionName,
    tables: tables.length - views,
    views,
    rows: estimates.some((rows) => rows !== undefined)
      ? estimates.reduce<number>((sum, rows) => sum + (rows ?? 0), 0)
      : null,
    queries: tables.length * QUERIES_PER_TABLE,
    toDescribe: toDescribe.length,
    requests,
    usage,
  };
}

/** The requests of a scan, at most: cached answers are not requested again. */
export function estimateScan(
  tables: readonly Table[],
  toDescribe: readonly Table[],
  { config, hasModel }: { config: Config["scan"]; hasModel: boolean },
): Pick<ScanPlan, "requests" | "usage"> {
  const portions = toDescribe.flatMap((table) =>
    portionsOf({ table, profile: undefined }, { table: true, columns: new Set(table.columns.map(({ name }) => name)) }),
  );
  const sizeOf = (portion: (typeof portions)[number]) => {
    const { characters, columns } = portionSize(portion);
    return { characters: characters + columns * SAMPLE_CHARACTERS, columns };
  };
  const batches = inBatches(portions, descriptionLimits(config.tablesPerCall), sizeOf);
  const real = tables.filter(({ type }) => type !== "view").length;
  const joinCalls = hasModel && config.modelJoins ? Math.ceil(real / JOIN_LIMITS.items) : 0;
  const described = portions.reduce((sum, portion) => sum + sizeOf(portion).characters, 0);
  const characters =
    described + batches.length * DESCRIPTION_SYSTEM.length + joinCalls * (JOIN_SYSTEM.length + JOIN_LIMITS.characters);
  const columns = portions.reduce((sum, portion) => sum + portion.columns.length, 0);
  const usage: Usage = {
    ...noUsage(),
    inputTokens: Math.ceil(characters / CHARACTERS_PER_TOKEN),
    outputTokens: columns * TOKENS_PER_COLUMN + portions.length * TOKENS_PER_TABLE + joinCalls * TOKENS_PER_JOIN_CALL,
  };
  return { requests: { descriptions: batches.length, joins: joinCalls }, usage };
}
