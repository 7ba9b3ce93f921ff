import { type PrivacyReport, type SamplesConfig, TandemError } from "@tandem/protocol";
import type { Relationship, TableProfile } from "@tandem/relationships";
import { type ScannedTable, tableKey } from "./scanned-table.ts";
import type { PersonalKind } from "./personal-data.ts";
import { type ColumnIdentity, SamplePolicy } from "./sample-policy.ts";
import { type Storage, storableProfile, storageOf, valuesOf } from "./storable-values.ts";

export interface RestrictedTables {
  tables: ScannedTable[];
  report: PrivacyReport;
  /** Whether values of a column may be stored. */
  mayStore: (table: { schema: string; name: string }, column: string) => boolean;
}

/** The tables as they may be stored and shown to models. All values that leave the scan's memory pass here. */
export function restrictTables(
  connection: string,
  config: SamplesConfig,
  tables: readonly ScannedTable[],
  /** The kind that the catalogue has for a column: another sample must not make it public. */
  knownPersonal: (scanned: ScannedTable, column: string) => PersonalKind | undefined = () => undefined,
): RestrictedTables {
  const policy = new SamplePolicy(config);
  const identities: ColumnIdentity[] = [];
  const decisions = new Map<string, Storage>();
  const report: PrivacyReport = { personal: [], configured: 0, unmatchedPatterns: [] };
  const restricted = tables.map((scanned): ScannedTable => {
    const { table, profile } = scanned;
    const profiles = new Map(profile?.columns.map((column) => [column.name, column]));
    for (const { name: column, type } of table.columns) {
      const identity = { connection, schema: table.schema, table: table.name, column };
      const seen = profiles.get(column);
      const values = seen ? valuesOf(seen) : [];
      const storage = storageOf(policy, { ...identity, type, personal: knownPersonal(scanned, column) }, values);
      identities.push(identity);
      decisions.set(columnKey(table, column), storage);
      if (storage.mode === "values") continue;
      const isByDetection = policy.modeOf(identity).mode === "values";
      if (!isByDetection) report.configured += 1;
      else report.personal.push({ column: `${table.schema}.${table.name}.${column}`, kind: storage.personal! });
    }
    if (!profile) return { table, profile };
    const columns = profile.columns.map((each) => storableProfile(each, decisions.get(columnKey(table, each.name))!));
    return { table, profile: { ...profile, columns } satisfies TableProfile };
  });
  report.unmatchedPatterns = policy.unmatched(connection, identities);
  return {
    tables: restricted,
    report,
    mayStore: (table, column) => decisions.get(columnKey(table, column))?.mode === "values",
  };
}

/** Joins that hold only for one value of another column contain that value. Without it they would be wrong. */
export const isStorableJoin = (
  { from, when }: Pick<Relationship, "from" | "when">,
  mayStore: RestrictedTables["mayStore"],
): boolean => when === undefined || mayStore(from.table, when.column);

export const withheldJoin = (table: string): TandemError =>
  new TandemError("not_supported", `A join of ${table} needs a value of a column whose values are not stored.`, {
    fix: "Allow the values of its type column in scan.samples.",
  });

const columnKey = (table: { schema: string; name: string }, column: string): string => `${tableKey(table)} ${column}`;
