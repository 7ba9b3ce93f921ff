import type { Table } from "@tandem/connectors";
import type { Relationship, VerifiedKey } from "@tandem/relationships";
import type { StorableTable } from "../privacy/scanned-table.ts";
import { isHeldJoin } from "./held-fields.ts";
import type { OwnedText } from "./owned-text.ts";
import { oneLine } from "./one-line.ts";
import { describedColumn } from "./stale-description.ts";
import type { ColumnEntry, Descriptions, JoinEntry, TableFile } from "./table-file.ts";
import { joinKey, newJoinEntry, profileEntry, settledJoin, settledProfile, tableFigures } from "./table-values.ts";

/** Findings of a scan about a table. Absent parts could not be read; the file keeps its content for them. */
export interface FoundTable {
  connection: string;
  table: Table;
  /** Path of its file, if not the plain one. */
  path?: string;
  profile?: StorableTable;
  /** Outgoing joins; rejected ones are ignored. */
  joins?: readonly Relationship[];
  /** Undeclared keys of several columns. */
  compositeKeys?: readonly VerifiedKey[];
  /** Written by a model. */
  descriptions?: { table?: string; columns?: Readonly<Record<string, string>> };
  /** The model that wrote descriptions and judged joins. */
  model?: string;
}

/** The desired content of a table's file: findings plus everything a person wrote. */
export function wantedTable(found: FoundTable, current: TableFile | undefined, owned: OwnedText): TableFile {
  const { connection, table, profile, descriptions } = found;
  const { primaryKey, uniqueKeys } = table;
  return {
    connection,
    schema: table.schema,
    table: table.name,
    type: table.type,
    descriptions: describe(current?.descriptions, table.comment, owned.hasWords() ? undefined : descriptions?.table),
    ...(profile ? tableFigures(profile) : figuresOf(current)),
    primaryKey: primaryKey.length > 0 ? [...primaryKey] : undefined,
    uniqueKeys: uniqueKeys.length > 0 ? uniqueKeys.map((key) => [...key]) : undefined,
    verifiedKeys: verifiedKeys(found, current?.verifiedKeys ?? []),
    checks: table.checks?.map(oneLine),
    columns: wantedColumns(found, current?.columns ?? [], owned),
    joins: found.joins ? wantedJoins(found.joins, current?.joins ?? [], owned) : current?.joins,
    notes: current?.notes,
  };
}

const figuresOf = (file: TableFile | undefined) => ({
  rows: file?.rows,
  rowsAre: file?.rowsAre,
  profiled: file?.profiled,
});

/** Keys of one column are found with the profile, others with the joins; each may have failed. */
function verifiedKeys(
  { profile, compositeKeys }: FoundTable,
  current: readonly VerifiedKey[],
): TableFile["verifiedKeys"] {
  const keys = [
    ...(profile?.verifiedKeys ?? current.filter(({ columns }) => columns.length === 1)),
    ...(compositeKeys ?? current.filter(({ columns }) => columns.length > 1)),
  ];
  return keys.length > 0 ? keys.map(({ columns, of }) => ({ columns: [...columns], of })) : undefined;
}

/** In file order; new columns come after their predecessor in the database. */
function wantedColumns(found: FoundTable, current: readonly ColumnEntry[], owned: OwnedText): ColumnEntry[] {
  const { table, profile, descriptions } = found;
  const before = new Map(current.map((entry) => [entry.name, entry]));
  const present = new Set(table.columns.map(({ name }) => name));
  const result = current.flatMap((entry): ColumnEntry[] => {
    if (present.has(entry.name)) return [entry];
    return owned.isInColumn(entry.name) ? [{ ...entry, gone: true }] : [];
  });
  let place = 0;
  for (const { name, type, nullable, labels, comment } of table.columns) {
    const old = before.get(name);
    const values = profile?.columns.find((column) => column.name === name);
    const entry: ColumnEntry = {
      name,
      type,
      nullable: nullable ? true : undefined,
      labels: labels?.map(oneLine),
      descriptions: describeColumn(
        { name, type },
        describe(old?.descriptions, comment, owned.hasWords(name) ? undefined : descriptions?.columns?.[name]),
        { isNew: descriptions?.columns?.[name] !== undefined, isOwned: owned.hasWords(name) },
      ),
      profile: values ? settledProfile(old?.profile, profileEntry(values, profile!)) : old?.profile,
    };
    const at = old ? result.indexOf(old) : place;
    result.splice(at, old ? 1 : 0, entry);
    place = at + 1;
  }
  return result;
}

/** Keeps a person's joins; ours are replaced by the findings, new ones at the end, certain ones first. */
function wantedJoins(
  found: readonly Relationship[],
  current: readonly JoinEntry[],
  owned: OwnedText,
): JoinEntry[] | undefined {
  const wanted = new Map(
    found
      .filter(({ status }) => status !== "rejected")
      .map((relationship) => ({ relationship, entry: newJoinEntry(relationship) }))
      .toSorted((a, b) => doubt(a) - doubt(b))
      .map(({ entry }): [string, JoinEntry] => [joinKey(entry), entry]),
  );
  const kept = current.flatMap((entry): JoinEntry[] => {
    const key = joinKey(entry);
    if (entry.origin === "human" || owned.isJoin(key)) return [entry];
    const next = wanted.get(key);
    return next ? [settledJoin(entry, next)] : [];
  });
  const known = new Set(current.map(joinKey));
  const joins = [...kept, ...[...wanted].filter(([key]) => !known.has(key)).map(([, entry]) => entry)];
  return joins.length > 0 ? joins : undefined;
}

/** Joins that need a person come last, so that the accepted part is valid without them. */
const doubt = ({ relationship, entry }: { relationship: Relationship; entry: JoinEntry }): number => {
  if (isHeldJoin(entry) !== undefined) return 3;
  return relationship.status === "review" ? 2 : relationship.origin === "declared" ? 0 : 1;
};

/** Updates the database's comment; a missing model text keeps the old one. */
function describe(old: Descriptions | undefined, comment = "", words = ""): Descriptions | undefined {
  const descriptions: Descriptions = {
    human: old?.human,
    db: oneLine(comment) || undefined,
    ai: oneLine(words) || old?.ai,
    aiFor: old?.aiFor,
  };
  return Object.values(descriptions).some((text) => text !== undefined) ? descriptions : undefined;
}

/** Notes which column a model's text is about. A text that a person has edited is about the column as it is. */
function describeColumn(
  column: Pick<ColumnEntry, "name" | "type">,
  descriptions: Descriptions | undefined,
  { isNew, isOwned }: { isNew: boolean; isOwned: boolean },
): Descriptions | undefined {
  if (!descriptions) return undefined;
  if (descriptions.ai === undefined || (isOwned && descriptions.aiFor !== describedColumn(column))) {
    return { ...descriptions, aiFor: undefined };
  }
  return isNew && !isOwned ? { ...descriptions, aiFor: describedColumn(column) } : descriptions;
}
