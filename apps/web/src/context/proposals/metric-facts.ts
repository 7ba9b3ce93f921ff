import { measureFormula, metricFormula } from "@tandem/protocol";
import { isMap, isNode, isScalar, LineCounter, type Pair, parseDocument } from "yaml";
import type { Change, Hunk } from "./proposal-api.ts";
import type { FactGroup, TableFact } from "./fact-groups.ts";

type Lines = readonly [first: number, last: number];

interface FileField {
  lines: Lines;
  text: string;
}

/** A metric, measure, dimension, segment or role of a file, or the entity itself. */
interface FileEntry {
  kind: string;
  name: string;
  lines: Lines;
  formula: string;
  /** The lines of the formula's parts. */
  formulaLines: readonly Lines[];
  fields: Map<string, FileField>;
}

const KINDS: Readonly<Record<string, string>> = {
  metrics: "Metric",
  measures: "Measure",
  dimensions: "Dimension",
  segments: "Segment",
  roles: "Role",
};
/** Parts of a formula, which is shown in one line instead. */
const IN_FORMULA = new Set(
  "measure ratio derived with cumulative to window where sum count count_distinct min max average median over".split(
    " ",
  ),
);

const LABELS: Readonly<Record<string, string>> = { aka: "also called", expr: "expression", page: "wiki page" };

/** Changes of a metrics file's hunk, by definition. If undefined, the reviewer sees the source instead. */
export function metricFactsOf(change: Pick<Change, "before" | "after">, hunk: Hunk): FactGroup[] | undefined {
  const before = readFile(change.before);
  const after = readFile(change.after);
  if (!before || !after) return undefined;
  const old = linesOf(hunk.old_start, hunk.old_lines.length);
  const fresh = linesOf(hunk.new_start, hunk.new_lines.length);
  const keys = new Set([...after.keys(), ...before.keys()]);
  const groups = [...keys].flatMap((key): FactGroup[] => {
    const [was, is] = [before.get(key), after.get(key)];
    const { kind, name } = (is ?? was)!;
    // A changed measure changes the metrics that use it.
    const isComputedAnew =
      (kind === "Metric" && touchesMeasure(before, after, old, fresh)) ||
      (was?.formulaLines ?? []).some((lines) => overlaps(lines, old)) ||
      (is?.formulaLines ?? []).some((lines) => overlaps(lines, fresh));
    const facts = [...(isComputedAnew ? formulaFact(was, is) : []), ...fieldFacts(was, is, old, fresh)];
    return facts.length > 0 ? [{ kind, subject: name, facts, figures: [] }] : [];
  });
  return groups.length > 0 ? groups : undefined;
}

function formulaFact(was: FileEntry | undefined, is: FileEntry | undefined): TableFact[] {
  const [before, after] = [was?.formula || undefined, is?.formula || undefined];
  return before === after ? [] : [{ field: "formula", before, after }];
}

function fieldFacts(was: FileEntry | undefined, is: FileEntry | undefined, old?: Lines, fresh?: Lines): TableFact[] {
  const names = new Set([...(is?.fields.keys() ?? []), ...(was?.fields.keys() ?? [])]);
  return [...names].flatMap((field) => {
    const [before, after] = [was?.fields.get(field), is?.fields.get(field)];
    const isHere = overlaps(before?.lines, old) || overlaps(after?.lines, fresh);
    if (!isHere || before?.text === after?.text) return [];
    return [{ field: LABELS[field] ?? field, before: before?.text, after: after?.text }];
  });
}

const touchesMeasure = (before: Entries, after: Entries, old?: Lines, fresh?: Lines): boolean =>
  [...before.values()].some(({ kind, lines }) => kind === "Measure" && overlaps(lines, old)) ||
  [...after.values()].some(({ kind, lines }) => kind === "Measure" && overlaps(lines, fresh));

type Entries = ReadonlyMap<string, FileEntry>;

/** The definitions of a file. Empty for no file, and undefined if it is no valid YAML. */
function readFile(text: string | null): Entries | undefined {
  const entries = new Map<string, FileEntry>();
  if (text === null) return entries;
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const root = document.contents;
  if (document.errors.length > 0 || !isMap(root)) return undefined;
  const plain = asRecord(document.toJS());
  const measures = asRecord(plain["measures"]);
  const entityFields = new Map<string, FileField>();
  for (const section of root.items) {
    const name = keyOf(section);
    const kind = KINDS[name];
    if (kind === undefined || !isMap(section.value)) {
      // The heading says it.
      if (name !== "entity")
        entityFields.set(name, { lines: linesOfPair(section, counter), text: textOf(plain[name]) });
      continue;
    }
    for (const pair of section.value.items) {
      const value = asRecord(plain[name])[keyOf(pair)];
      const entry = asRecord(value);
      const formula =
        kind === "Metric" ? metricFormula(entry, measures) : kind === "Measure" ? measureFormula(entry) : "";
      entries.set(`${kind} ${keyOf(pair)}`, {
        kind,
        name: keyOf(pair),
        lines: linesOfPair(pair, counter),
        formula,
        formulaLines: isMap(pair.value)
          ? pair.value.items.filter((field) => IN_FORMULA.has(keyOf(field))).map((field) => linesOfPair(field, counter))
          : [],
        fields: fieldsOf(pair, value, counter, formula !== ""),
      });
    }
  }
  const lines: Lines = [1, counter.lineStarts.length];
  return new Map([
    [
      "Entity",
      { kind: "Entity", name: textOf(plain["entity"]), lines, formula: "", formulaLines: [], fields: entityFields },
    ],
    ...entries,
  ]);
}

function fieldsOf(pair: Pair, value: unknown, counter: LineCounter, hasFormula: boolean): Map<string, FileField> {
  if (!isMap(pair.value)) {
    return value === null ? new Map() : new Map([["is", { lines: linesOfPair(pair, counter), text: textOf(value) }]]);
  }
  const fields = pair.value.items
    .filter((field) => !(hasFormula && IN_FORMULA.has(keyOf(field))))
    .map((field) => {
      const name = keyOf(field);
      return [name, { lines: linesOfPair(field, counter), text: textOf(asRecord(value)[name]) }] as const;
    });
  return new Map(fields);
}

const keyOf = ({ key }: Pair): string => (isScalar(key) ? String(key.value) : String(key));

function linesOfPair({ key, value }: Pair, counter: LineCounter): Lines {
  const start = (isNode(key) && key.range?.[0]) || 0;
  const end = (isNode(value) && value.range?.[1]) || (isNode(key) && key.range?.[1]) || start;
  return [counter.linePos(start).line, counter.linePos(Math.max(start, end - 1)).line];
}

const linesOf = (start: number, count: number): Lines | undefined =>
  count === 0 ? undefined : [start, start + count - 1];

const overlaps = (lines: Lines | undefined, others: Lines | undefined): boolean =>
  lines !== undefined && others !== undefined && lines[0] <= others[1] && others[0] <= lines[1];

const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .map(([key, each]) => `${key}: ${textOf(each)}`)
      .join(", ");
  }
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}
