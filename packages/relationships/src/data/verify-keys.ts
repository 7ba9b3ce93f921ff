import { type ColumnKind, type Connection, ConnectionError, type Table } from "@tandem/connectors";
import { type ColumnProfile, coverageOf, type TableProfile, type VerifiedKey } from "./profile.ts";

/** Kinds whose values identify rows; two equal amounts or times are chance. */
const CAN_IDENTIFY: ReadonlySet<ColumnKind> = new Set(["integer", "text", "uuid", "date"]);
const LONGEST = 120;
/** Columns of a large table that are counted completely. */
const MOST = 8;
const WHOLE_TABLE_MS = 5_000;

/**
 * Single columns that the data shows to be unique. A table that is larger than its sample is counted completely if that
 * takes a few seconds; otherwise the sample decides, and the key says so.
 */
export async function verifyKeys(
  connection: Connection,
  table: Table,
  profile: TableProfile,
  limits: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<VerifiedKey[]> {
  if (profile.sampled < 2) return [];
  const declared = new Set([table.primaryKey, ...table.uniqueKeys].map((key) => key.join("\0")));
  const profiles = new Map(profile.columns.map((column) => [column.name, column]));
  const names = table.columns
    .filter(({ name, kind }) => !declared.has(name) && CAN_IDENTIFY.has(kind) && isUnique(profiles.get(name)))
    .map(({ name }) => name);
  if (names.length === 0 || coverageOf(profile) === "all") return names.map((name) => ({ columns: [name], of: "all" }));
  const counted = names.slice(0, MOST);
  const figures = counted.flatMap((name) => [
    `count(${connection.quote(name)})`,
    `count(DISTINCT ${connection.quote(name)})`,
  ]);
  const from = `${connection.quote(table.schema)}.${connection.quote(table.name)}`;
  const timeoutMs = Math.min(WHOLE_TABLE_MS, limits.timeoutMs);
  try {
    const { rows } = await connection.query(`SELECT count(*), ${figures.join(", ")} FROM ${from}`, {
      ...limits,
      timeoutMs,
    });
    const [all, ...counts] = rows[0]!.map(Number);
    return names.flatMap((name, at): VerifiedKey[] => {
      if (at >= MOST) return [{ columns: [name], of: "sample" }];
      return counts[2 * at] === all && counts[2 * at + 1] === all ? [{ columns: [name], of: "all" }] : [];
    });
  } catch (error) {
    limits.signal?.throwIfAborted();
    if (!(error instanceof ConnectionError)) throw error;
    return names.map((name) => ({ columns: [name], of: "sample" }));
  }
}

const isUnique = (column: ColumnProfile | undefined): boolean =>
  column !== undefined && column.unique && column.nulls === 0 && (column.lengths?.[1] ?? 0) <= LONGEST;
