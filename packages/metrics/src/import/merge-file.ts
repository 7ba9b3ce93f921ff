import { isMap, isScalar, LineCounter, type Pair, parseDocument, stringify, type YAMLMap } from "yaml";
import { metricsFile } from "../model/metrics-file.ts";
import { type DraftEntity, type DraftFile, type Section, SECTIONS } from "./draft-file.ts";
import type { ImportFormat } from "./imported-project.ts";

/** A file of the context. */
export interface ExistingFile {
  readonly path: string;
  readonly text: string;
  /** Lines that people wrote, from 1. */
  readonly handLines: ReadonlySet<number>;
}

/** A definition of the context that the import leaves as it is. */
interface Kept {
  readonly section: Section;
  readonly name: string;
  readonly reason: "by hand" | "not imported";
}

export interface MergedFile {
  readonly text: string;
  /** Lines of imported definitions in `text`, with their markers. */
  readonly regions: readonly { readonly part: string; readonly from: number; readonly to: number }[];
  readonly kept: readonly Kept[];
}

const MARKER = /^\s*# from (dbt|ossie|ktx) (.+)$/;

/**
 * Writes drafts into a file of the context, as text, so that all other lines stay. A comment before each definition names
 * its source; only those that have one and that no person has edited are updated.
 */
export function mergeFile(
  existing: ExistingFile | undefined,
  { file, sources }: Pick<DraftEntity, "file" | "sources">,
  { format, paths }: { format: ImportFormat; paths: ReadonlySet<string> },
): MergedFile {
  const before = existing?.text ?? headOf(file);
  const known = readLines(before);
  const current = existing && metricsFile.safeParse(known.data);
  const currentTime = current?.success ? current.data.time : file.time;
  const kept: Kept[] = [];
  const edits: { at: number; remove: number; lines: string[] }[] = [];
  const changed = new Set<string>();
  const appended: string[] = [];
  for (const section of SECTIONS) {
    const added: string[] = [];
    const at = known.section(section);
    const indent = at && !at.isFlow ? at.indent : 2;
    for (const [name, drafted] of Object.entries(file[section])) {
      const entry = section === "measures" ? withTime(drafted, file.time, currentTime) : drafted;
      const part = `${section}.${name}`;
      const lines = entryLines(name, entry, indent, `# from ${format} ${sources.get(part)?.path ?? ""}`);
      const old = at?.entries.get(name);
      if (!old) {
        added.push(...lines);
        changed.add(part);
        continue;
      }
      const stored: unknown = current?.success ? current.data[section]?.[name] : undefined;
      if (isEqual(stored, entry)) continue;
      const marker = MARKER.exec(known.lines[old.from - 2] ?? "");
      const isOwn = marker?.[1] === format && paths.has(marker[2]!);
      const hasHandLine = [...(existing?.handLines ?? [])].some((line) => line >= old.from && line <= old.to);
      if (!isOwn || hasHandLine) {
        kept.push({ section, name, reason: isOwn ? "by hand" : "not imported" });
        continue;
      }
      changed.add(part);
      edits.push({ at: old.from - 2, remove: old.to - old.from + 2, lines });
    }
    if (added.length === 0) continue;
    if (at?.isFlow) {
      const values = { ...(known.data as Record<string, Record<string, unknown>>)[section] };
      const whole = Object.entries(values).flatMap(([name, value]) => entryLines(name, value, 2));
      edits.push({ at: at.from - 1, remove: at.to - at.from + 1, lines: [`${section}:`, ...whole, ...added] });
    } else if (at) edits.push({ at: at.to, remove: 0, lines: added });
    else appended.push(`${section}:`, ...added);
  }
  const lines = [...known.lines];
  for (const { at, remove, lines: inserted } of edits.toSorted((a, b) => b.at - a.at))
    lines.splice(at, remove, ...inserted);
  while (lines.at(-1) === "") lines.pop();
  const text = `${[...lines, ...appended].join("\n")}\n`;
  return { text, kept, regions: regionsOf(text, changed) };
}

/** Definitions of the file that an import wrote and that the project no longer has. */
export function vanished(
  { text }: ExistingFile,
  { format, paths }: { format: ImportFormat; paths: ReadonlySet<string> },
  isKnown: (section: Section, name: string) => boolean,
): { section: Section; name: string; source: string }[] {
  const known = readLines(text);
  return SECTIONS.flatMap((section) =>
    [...(known.section(section)?.entries ?? [])].flatMap(([name, { from }]) => {
      const [, by, source = ""] = MARKER.exec(known.lines[from - 2] ?? "") ?? [];
      return by === format && paths.has(source) && !isKnown(section, name) ? [{ section, name, source }] : [];
    }),
  );
}

function headOf({ entity, description, table, grain, time }: DraftFile): string {
  return stringify(
    { entity, ...(description !== undefined && { description }), table, grain, ...(time !== undefined && { time }) },
    { lineWidth: 0, flowCollectionPadding: false },
  );
}

/** A measure whose file has another default time names its own. */
function withTime(entry: unknown, own: string | undefined, file: string | undefined): unknown {
  if (own === undefined || own === file || typeof entry !== "object" || entry === null || "time" in entry) return entry;
  return { ...entry, time: own };
}

function entryLines(name: string, entry: unknown, indent: number, marker?: string): string[] {
  const isEmpty = typeof entry === "object" && entry !== null && Object.keys(entry).length === 0;
  const text = isEmpty ? `${name}: {}` : stringify({ [name]: simplified(entry) }, { lineWidth: 0 });
  const lines = [...(marker === undefined ? [] : [marker]), ...text.trimEnd().split("\n")];
  return lines.map((line) => (line === "" ? line : `${" ".repeat(indent)}${line}`));
}

/** A list of one condition is written as the condition. */
function simplified(entry: unknown): unknown {
  if (typeof entry !== "object" || entry === null || !("where" in entry)) return entry;
  const { where } = entry;
  return Array.isArray(where) && where.length === 1 ? { ...entry, where: where[0] as unknown } : entry;
}

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

interface SectionLines {
  readonly from: number;
  readonly to: number;
  readonly indent: number;
  readonly isFlow: boolean;
  readonly entries: ReadonlyMap<string, { from: number; to: number }>;
}

function readLines(text: string): {
  lines: string[];
  data: unknown;
  section: (name: Section) => SectionLines | undefined;
} {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const data: unknown = document.errors.length > 0 ? {} : document.toJS();
  const pairLines = ({ key, value }: Pair): { from: number; to: number } => {
    const start = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
    const end = rangeEnd(value) ?? rangeEnd(key) ?? start;
    return { from: counter.linePos(start).line, to: counter.linePos(Math.max(start, end - 1)).line };
  };
  return {
    lines: text.split("\n"),
    data,
    section: (name) => {
      const { contents } = document;
      const pair = isMap(contents) ? contents.items.find(({ key }) => isScalar(key) && key.value === name) : undefined;
      if (!pair || !isMap(pair.value)) return undefined;
      const map: YAMLMap = pair.value;
      const entries = new Map(map.items.map((item) => [String(item.key), pairLines(item)] as const));
      const first = map.items[0]?.key;
      const column = isScalar(first) && first.range ? counter.linePos(first.range[0]).col - 1 : 2;
      return { ...pairLines(pair), indent: column, isFlow: map.flow === true, entries };
    },
  };
}

const rangeEnd = (node: unknown): number | undefined =>
  typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range)
    ? Number(node.range[1])
    : undefined;

function regionsOf(text: string, changed: ReadonlySet<string>): MergedFile["regions"] {
  const { lines, section } = readLines(text);
  return SECTIONS.flatMap((name) =>
    [...(section(name)?.entries ?? [])].flatMap(([entry, { from, to }]) => {
      if (!changed.has(`${name}.${entry}`)) return [];
      return [{ part: `${name}.${entry}`, from: MARKER.test(lines[from - 2] ?? "") ? from - 1 : from, to }];
    }),
  );
}
