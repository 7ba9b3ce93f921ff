import { editYaml } from "@tandem/workspace";
import {
  type ColumnEntry,
  type Descriptions,
  type JoinEntry,
  parseTableFile,
  type TableFile,
} from "../catalogue/table-file.ts";
import { TABLE } from "../catalogue/update-table-file.ts";
import { holdsPersonalData } from "../privacy/personal-values.ts";
import type { SamplePolicy } from "../privacy/sample-policy.ts";
import { type Storage, storageOf } from "../privacy/storable-values.ts";
import { shapesOf } from "../privacy/value-shape.ts";
import { syncDocument } from "../formats/sync-yaml.ts";

export interface ScrubRule {
  policy: SamplePolicy;
  /** Remove the values of every column. */
  isForAll: boolean;
}

export interface ScrubbedTable {
  text: string;
  /** Names of the columns that lose values. */
  columns: string[];
  /** The values that are removed, as text. */
  removed: ReadonlySet<string>;
}

type Profile = NonNullable<ColumnEntry["profile"]>;

/** Removes the values from a table's file that may not be stored, and model-written text that mentions them. */
export function scrubTable(text: string, rule: ScrubRule): ScrubbedTable {
  const parsed = parseTableFile(text);
  if (!parsed.success) {
    const without = withoutValueLines(text);
    return { text: without, columns: without === text ? [] : ["?"], removed: new Set() };
  }
  const { table } = parsed;
  const removed = new Set<string>();
  const columns: string[] = [];
  const storages = new Map(table.columns.map((column) => [column.name, storageOfEntry(table, column, rule)]));
  const scrubbed = table.columns.map((column): ColumnEntry => {
    const profile = column.profile && scrubProfile(column.profile, storages.get(column.name)!);
    if (!profile || profile === column.profile) return column;
    columns.push(column.name);
    for (const value of valuesOf(column.profile!)) if (!valuesOf(profile).includes(value)) removed.add(String(value));
    return { ...column, profile };
  });
  const isStorable = ({ when, origin }: JoinEntry) =>
    when === undefined || origin === "human" || storages.get(when.column)?.mode === "values";
  const joins = table.joins?.filter(isStorable);
  if (columns.length === 0 && joins?.length === table.joins?.length) return { text, columns, removed };
  const wanted: TableFile = {
    ...table,
    descriptions: withoutMentions(table.descriptions, removed),
    columns: scrubbed.map((column) => ({ ...column, descriptions: withoutMentions(column.descriptions, removed) })),
    joins: joins?.map((join) => (mentions(join.why, removed) ? { ...join, why: undefined } : join)),
  };
  return { text: editYaml(text, (document) => syncDocument(document, wanted, TABLE)), columns, removed };
}

function storageOfEntry({ connection, schema, table }: TableFile, column: ColumnEntry, rule: ScrubRule): Storage {
  const { name, type, profile = {} } = column;
  const identity = { connection, schema, table, column: name, type, personal: profile.personal };
  const storage = storageOf(rule.policy, identity, profile.samples ?? []);
  return rule.isForAll ? { ...storage, mode: "none", isAllowed: false } : storage;
}

const valuesOf = ({ min, max, samples = [] }: Profile) => [
  ...samples,
  ...(min === undefined ? [] : [min]),
  ...(max === undefined ? [] : [max]),
];

function scrubProfile(profile: Profile, { mode, isAllowed, personal }: Storage): Profile {
  if (isAllowed) return profile;
  const { min, max, samples, samplesAre, stored: _stored, shapes, lengths, ...counts } = profile;
  if (mode === "values") {
    const isKept = (value: unknown) => typeof value !== "string" || !holdsPersonalData(value);
    if (valuesOf(profile).every(isKept)) return profile;
    const kept = samples?.filter(isKept);
    return {
      ...profile,
      min: isKept(min) ? min : undefined,
      max: isKept(max) ? max : undefined,
      samples: kept,
      ...(samplesAre && kept?.length !== samples?.length && { samplesAre: "examples" }),
    };
  }
  const marks = { ...counts, stored: mode, personal: profile.personal ?? personal };
  const hasValues = valuesOf(profile).length > 0;
  if (mode === "none") return hasValues || shapes ? marks : profile;
  if (!hasValues) return profile;
  const strings = samples?.filter((value) => typeof value === "string").map((value) => value.length) ?? [];
  return {
    ...marks,
    shapes: shapes ?? shapesOf(samples ?? []),
    lengths: lengths ?? (strings.length > 0 ? [Math.min(...strings), Math.max(...strings)] : undefined),
  };
}

/** A word of two letters or a small number occurs in any text. */
const SHORTEST = 3;

/** Whether a text mentions one of the values as a word. */
export function mentions(text: string | undefined, values: ReadonlySet<string>): boolean {
  if (text === undefined || values.size === 0) return false;
  return [...values].some((value) => {
    if (value.length < SHORTEST || /^-?\d{1,3}$/.test(value)) return false;
    const at = text.indexOf(value);
    if (at === -1) return false;
    const isLetter = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}]/u.test(character);
    return !isLetter(text[at - 1]) && !isLetter(text[at + value.length]);
  });
}

/** The next scan lets a model describe it again, without the values. */
const withoutMentions = (said: Descriptions | undefined, removed: ReadonlySet<string>): Descriptions | undefined => {
  if (!said || !mentions(said.ai, removed)) return said;
  const { ai: _ai, ...rest } = said;
  return Object.values(rest).some((text) => text !== undefined) ? rest : undefined;
};

const VALUE_KEY = /^(\s*(?:- )?)(samples|min|max)\s*:/;

/** For a file that cannot be parsed: removes the lines of all values. */
function withoutValueLines(text: string): string {
  const lines = text.split("\n");
  const kept: string[] = [];
  let depth: number | undefined;
  for (const line of lines) {
    const indent = /^\s*/.exec(line)![0].length;
    const isInside = depth !== undefined && line.trim() !== "" && (indent > depth || /^\s*[-\]]/.test(line));
    if (isInside && indent >= depth!) continue;
    const found = VALUE_KEY.exec(line);
    depth = found ? found[1]!.length : undefined;
    if (!found) kept.push(line);
  }
  return kept.join("\n");
}
