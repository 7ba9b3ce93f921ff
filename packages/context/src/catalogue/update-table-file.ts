import type { Table } from "@tandem/connectors";
import { TandemError } from "@tandem/protocol";
import type { Relationship, TableProfile } from "@tandem/relationships";
import { isDeepStrictEqual } from "node:util";
import { type Document, isMap, isSeq, type Pair, YAMLMap, YAMLSeq } from "yaml";
import { editYaml } from "../edit-yaml.ts";
import { describeProblem } from "../file-problem.ts";
import type { Draft } from "../proposals/proposals.ts";
import { parseTableFile } from "./parse-table-file.ts";
import type { JoinEntry, TableFile } from "./table-file.ts";
import { type FieldLines, tableLines } from "./table-lines.ts";
import { tablePath } from "./table-path.ts";
import { tableSupport } from "./table-support.ts";
import { joinKey, newJoinEntry, oneLine, profileEntry, roundCount } from "./table-values.ts";

/** What a scan knows of a table now. What it could not find out is left out, and the file keeps what it has. */
export interface FoundTable {
  connection: string;
  table: Table;
  profile?: TableProfile;
  /** All that lead away from it. Rejected ones are passed over. */
  joins?: readonly Relationship[];
  /** What a model has written. */
  descriptions?: { table?: string; columns?: Readonly<Record<string, string>> };
  /** The model that was asked, for descriptions and joins. */
  model?: string;
}

const TOP = [
  "connection",
  "schema",
  "table",
  "type",
  "gone",
  "descriptions",
  "rows",
  "primaryKey",
  "uniqueKeys",
  "columns",
  "joins",
  "notes",
];
const COLUMN = ["name", "type", "nullable", "gone", "descriptions", "profile"];
/** The database's before the model's: the line above them goes with the first, which can then stand without the other. */
const DESCRIPTIONS = ["human", "db", "ai"];
const PROFILE = ["nulls", "distinct", "min", "max", "samples"];

/**
 * A table's file as it should be now. A person's words are never changed or removed: not in `human`, not in `notes`, not
 * where they have written over a model's (`hand`: lines of the file that people wrote last, see `ContextFolder.handLines`).
 */
export function updateTableFile(
  found: FoundTable,
  existing: string | null,
  hand: ReadonlySet<number> = new Set(),
): Draft {
  const { connection, table } = found;
  const path = tablePath({ connection, schema: table.schema, table: table.name });
  const current = existing === null ? undefined : readCurrent(path, existing);
  const owned = new Owned(existing, hand, current);
  const after = editYaml(existing ?? "{}\n", (document) => {
    const top = topOf(document);
    set(document, top, "connection", connection, TOP);
    set(document, top, "schema", table.schema, TOP);
    set(document, top, "table", table.name, TOP);
    set(document, top, "type", table.type, TOP);
    set(document, top, "gone", undefined, TOP);
    describe(document, top, TOP, { db: table.comment, ai: owned.hasWords() ? undefined : found.descriptions?.table });
    if (found.profile) set(document, top, "rows", roundCount(found.profile.rows), TOP);
    set(document, top, "primaryKey", table.primaryKey.length > 0 ? [...table.primaryKey] : undefined, TOP);
    set(
      document,
      top,
      "uniqueKeys",
      table.uniqueKeys.length > 0 ? table.uniqueKeys.map((key) => [...key]) : undefined,
      TOP,
    );
    updateColumns(document, seqOf(document, top, "columns"), found, owned);
    if (found.joins) updateJoins(document, top, found.joins, current?.joins ?? [], owned);
  });
  if (after === existing) return { path, before: existing, after, support: [] };
  return { path, before: existing, after, ...tableSupport(found, existing, after) };
}

/** For a table that the database has no more. Its file goes, unless a person has written something in it. */
export function removeTableFile(existing: string, hand: ReadonlySet<number> = new Set()): Draft {
  const current = readCurrent("A table's file", existing);
  const path = tablePath(current);
  const isKept = new Owned(existing, hand, current).isAny();
  const after = isKept ? editYaml(existing, (document) => set(document, topOf(document), "gone", true, TOP)) : null;
  const { connection, schema, table } = current;
  const finding = "the database does not have it any more";
  const evidence = [{ type: "database" as const, connection, table: `${schema}.${table}`, finding }];
  const whole = [{ from: 1, to: Infinity, aspect: "structure" as const, evidence }];
  return { path, before: existing, after, support: whole, removal: whole };
}

function readCurrent(path: string, text: string): TableFile {
  const parsed = parseTableFile(text);
  if (parsed.success) return parsed.table;
  throw new TandemError("bad_file", `${path} cannot be read. ${describeProblem(parsed.problems[0]!)}`, {
    fix: "Mend the file, or remove it: the next scan writes it anew.",
  });
}

/** What of a file is a person's. */
class Owned {
  readonly #fields: readonly FieldLines[];
  readonly #hand: ReadonlySet<number>;
  readonly #current: TableFile | undefined;

  constructor(existing: string | null, hand: ReadonlySet<number>, current: TableFile | undefined) {
    this.#fields = existing === null || hand.size === 0 ? [] : tableLines(existing);
    this.#hand = hand;
    this.#current = current;
  }

  /** Whether a person has described the table or column: under `human`, or by writing over the model's words. */
  hasWords(column?: string): boolean {
    const entry = column === undefined ? this.#current : this.#current?.columns.find(({ name }) => name === column);
    const isEdited = this.#fields.some((field) => field.isAi && field.column === column && this.#isByHand(field));
    return Boolean(entry?.descriptions?.human?.trim()) || isEdited;
  }

  /** Whether there is anything in a column's entry that only a person can have written. */
  isInColumn(column: string): boolean {
    const own = this.#fields.filter((field) => field.column === column);
    return this.hasWords(column) || own.some((field) => field.aspect === "own" && this.#isByHand(field));
  }

  isJoin(index: number): boolean {
    return this.#fields.some((field) => field.join === index && this.#isByHand(field));
  }

  isAny(): boolean {
    const { columns = [], joins = [], notes } = this.#current ?? {};
    const own = this.#fields.some((field) => field.aspect === "own" && this.#isByHand(field));
    return (
      [this.hasWords(), Boolean(notes?.trim()), own].some(Boolean) ||
      columns.some(({ name }) => this.isInColumn(name)) ||
      joins.some(({ origin }, index) => origin === "human" || this.isJoin(index))
    );
  }

  #isByHand({ from, to }: FieldLines): boolean {
    for (let line = from; line <= to; line += 1) if (this.#hand.has(line)) return true;
    return false;
  }
}

function updateColumns(
  document: Document,
  seq: YAMLSeq,
  { table, profile, descriptions }: FoundTable,
  owned: Owned,
): void {
  const entries = new Map(
    seq.items.flatMap((item): [string, YAMLMap][] => (isMap(item) ? [[String(item.get("name")), item]] : [])),
  );
  let place = 0;
  for (const { name, type, nullable, comment } of table.columns) {
    let entry = entries.get(name);
    if (entry) {
      place = seq.items.indexOf(entry) + 1;
    } else {
      entry = new YAMLMap();
      seq.items.splice(place, 0, entry);
      place += 1;
    }
    set(document, entry, "name", name, COLUMN);
    set(document, entry, "type", type, COLUMN);
    set(document, entry, "nullable", nullable ? true : undefined, COLUMN);
    set(document, entry, "gone", undefined, COLUMN);
    describe(document, entry, COLUMN, {
      db: comment,
      ai: owned.hasWords(name) ? undefined : descriptions?.columns?.[name],
    });
    const values = profile?.columns.find((column) => column.name === name);
    if (values) {
      const map = mapOf(document, entry, "profile", COLUMN);
      for (const [key, value] of Object.entries(profileEntry(values))) set(document, map, key, value, PROFILE);
    }
  }
  const names = new Set(table.columns.map(({ name }) => name));
  for (const [name, entry] of entries) {
    if (names.has(name)) continue;
    if (owned.isInColumn(name)) set(document, entry, "gone", true, COLUMN);
    else seq.items.splice(seq.items.indexOf(entry), 1);
  }
}

const doubt = ({ origin, status }: Relationship): number => (status === "review" ? 2 : origin === "declared" ? 0 : 1);

/** A person's joins stay as they are; ours are replaced by what was found. The certain ones come first. */
function updateJoins(
  document: Document,
  top: YAMLMap,
  found: readonly Relationship[],
  current: readonly JoinEntry[],
  owned: Owned,
): void {
  const theirs = new Set(current.filter(({ origin }, index) => origin === "human" || owned.isJoin(index)).map(joinKey));
  const wanted = new Map(
    found
      .filter(({ status }) => status !== "rejected")
      .toSorted((a, b) => doubt(a) - doubt(b))
      .map((relationship) => newJoinEntry(relationship))
      .map((entry): [string, JoinEntry] => [joinKey(entry), entry]),
  );
  if (theirs.size === 0 && wanted.size === 0) {
    set(document, top, "joins", undefined, TOP);
    return;
  }
  const seq = seqOf(document, top, "joins");
  const nodes = new Map(current.map((entry, index) => [joinKey(entry), seq.items[index]]));
  seq.items = [
    ...current.flatMap((entry) => {
      const node = nodes.get(joinKey(entry));
      return theirs.has(joinKey(entry)) || wanted.has(joinKey(entry)) ? [node] : [];
    }),
    ...[...wanted]
      .filter(([key]) => !nodes.has(key))
      .map(([, entry]) => document.createNode(withFlow(document, entry))),
  ];
  for (const [key, entry] of wanted) {
    const node = nodes.get(key);
    if (theirs.has(key) || !isMap(node)) continue;
    for (const [name, value] of Object.entries(entry)) set(document, node, name, value, Object.keys(entry));
    if (entry.why === undefined) node.delete("why");
  }
}

function withFlow(document: Document, entry: JoinEntry): YAMLMap {
  const map = new YAMLMap();
  for (const [name, value] of Object.entries(entry)) set(document, map, name, value, []);
  return map;
}

/** The database's comment is what it is now; a model's text that is missing leaves the old one. */
function describe(
  document: Document,
  map: YAMLMap,
  order: readonly string[],
  { db, ai }: { db?: string; ai?: string },
): void {
  const [comment, words] = [oneLine(db ?? ""), oneLine(ai ?? "")];
  if (comment === "" && words === "" && !map.has("descriptions")) return;
  const descriptions = mapOf(document, map, "descriptions", order);
  if (words !== "") set(document, descriptions, "ai", words, DESCRIPTIONS);
  set(document, descriptions, "db", comment === "" ? undefined : comment, DESCRIPTIONS);
  if (descriptions.items.length === 0) map.delete("descriptions");
}

/** Sets a field where it belongs in the order; one that is as it should be is not touched. Lists are in one line. */
function set(document: Document, map: YAMLMap, key: string, value: unknown, order: readonly string[]): void {
  if (value === undefined) {
    map.delete(key);
    return;
  }
  const node = map.get(key, true);
  if (node !== undefined) {
    const before: unknown = node?.toJS(document);
    if (!isDeepStrictEqual(before, value))
      map.set(key, typeof value === "object" ? document.createNode(value, { flow: true }) : value);
    return;
  }
  const pair = document.createPair(key, document.createNode(value, { flow: true })) as Pair;
  const rank = order.indexOf(key);
  const place = map.items.findLastIndex((item) => {
    const other = order.indexOf(String((item.key as { value?: unknown }).value ?? item.key));
    return other !== -1 && other < rank;
  });
  map.items.splice(rank === -1 ? map.items.length : place + 1, 0, pair as never);
}

function topOf(document: Document): YAMLMap {
  if (!isMap(document.contents)) document.contents = new YAMLMap() as never;
  const top: YAMLMap = document.contents;
  // An empty one was `{}`.
  if (top.items.length === 0) top.flow = false;
  return top;
}

function seqOf(document: Document, map: YAMLMap, key: string): YAMLSeq {
  const node = map.get(key, true);
  if (isSeq(node)) return node;
  map.delete(key);
  set(document, map, key, [], TOP);
  const seq = new YAMLSeq();
  map.set(key, seq);
  return seq;
}

function mapOf(document: Document, map: YAMLMap, key: string, order: readonly string[]): YAMLMap {
  const node = map.get(key, true);
  if (isMap(node)) return node;
  map.delete(key);
  set(document, map, key, {}, order);
  const made = new YAMLMap();
  map.set(key, made);
  return made;
}
