import { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, type Pair, type YAMLMap } from "yaml";
import type { Aspect } from "../draft.ts";
import { withoutSampleLists } from "./sample-lists.ts";
import { joinEntry } from "./table-file.ts";
import { joinKey } from "./table-values.ts";

/** Lines of a table's file (from 1, inclusive) that state one fact. */
export interface FieldLines {
  from: number;
  to: number;
  /** `own`: a person's text, or an unknown field. */
  aspect: Exclude<Aspect, "wiki" | "memory"> | "own";
  /** Contains only the model's text. */
  isAi: boolean;
  column: string | undefined;
  /** The join it belongs to; see `joinKey`. */
  join: string | undefined;
  /** The map that contains it: the line of the map's key belongs to its first field. */
  under: "descriptions" | "profile" | undefined;
}

const STRUCTURE: ReadonlySet<string> = new Set(
  "connection schema table type gone primaryKey uniqueKeys checks name nullable labels".split(" "),
);
const FIGURES: ReadonlySet<string> = new Set(["rows", "rowsAre", "profiled", "verifiedKeys"]);

/** Classifies each line of a table's file. Comments and blank lines have no fact. */
export function tableLines(text: string): FieldLines[] {
  const counter = new LineCounter();
  // The lists are on lines of their own, whose content has no part in this.
  const document = parseDocument(withoutSampleLists(text).text, { lineCounter: counter });
  const found: FieldLines[] = [];
  const lineOf = (offset: number) => counter.linePos(offset).line;
  const startOf = (pair: Pair) => lineOf((pair.key as { range?: [number, number, number] }).range?.[0] ?? 0);
  const endOf = (pair: Pair) => {
    const value = pair.value as { range?: [number, number, number] | null } | null;
    const end = value?.range?.[1];
    // A block's range includes its final line end.
    return end === undefined ? startOf(pair) : Math.max(startOf(pair), lineOf(Math.max(0, end - 1)));
  };
  const add = (from: number, to: number, aspect: FieldLines["aspect"], place: Partial<FieldLines> = {}) =>
    found.push({ from, to, aspect, isAi: false, column: undefined, join: undefined, under: undefined, ...place });

  /** A nested map: the line of its key belongs to the first field. */
  const nested = (
    pair: Pair,
    each: (field: Pair, name: string) => [FieldLines["aspect"], boolean],
    place: Partial<FieldLines>,
  ) => {
    if (!isMap(pair.value) || pair.value.items.length === 0) {
      add(startOf(pair), endOf(pair), "own", place);
      return;
    }
    pair.value.items.forEach((field, index) => {
      const [aspect, isAi] = each(field, nameOf(field));
      const isBelow = startOf(field) > startOf(pair);
      if (index === 0 && isBelow) add(startOf(pair), startOf(field) - 1, aspect, place);
      add(startOf(field), endOf(field), aspect, { ...place, isAi: isAi && isBelow });
    });
  };
  const descriptions = (_field: Pair, name: string): [FieldLines["aspect"], boolean] =>
    name === "ai"
      ? ["description", true]
      : [name === "aiFor" ? "description" : name === "db" ? "structure" : "own", false];

  const fieldsOf = (map: YAMLMap, place: Partial<FieldLines>) => {
    for (const pair of map.items) {
      const name = nameOf(pair);
      if (name === "descriptions") nested(pair, descriptions, { ...place, under: name });
      else if (name === "profile") nested(pair, () => ["profile", false], { ...place, under: name });
      else if (FIGURES.has(name) && place.column === undefined) add(startOf(pair), endOf(pair), "profile", place);
      else if (name === "columns" && place.column === undefined) columns(pair);
      else if (name === "joins" && place.column === undefined) joins(pair);
      else add(startOf(pair), endOf(pair), STRUCTURE.has(name) ? "structure" : "own", place);
    }
  };
  const columns = (pair: Pair) => {
    add(startOf(pair), startOf(pair), "structure");
    if (!isSeq(pair.value)) return;
    for (const entry of pair.value.items) {
      if (isMap(entry)) fieldsOf(entry, { column: String(entry.get("name")) });
    }
  };
  const joins = (pair: Pair) => {
    if (!isSeq(pair.value)) return;
    pair.value.items.forEach((entry, index) => {
      if (!isMap(entry)) return;
      const parsed = joinEntry.safeParse(entry.toJS(document));
      const join = parsed.success ? joinKey(parsed.data) : undefined;
      // The line of the key belongs to the first field.
      if (index === 0) add(startOf(pair), startOf(pair), "join", { join });
      for (const field of entry.items) add(startOf(field), endOf(field), "join", { join });
    });
  };
  if (isMap(document.contents)) fieldsOf(document.contents, {});
  return found;
}

const nameOf = (pair: unknown): string => (isPair(pair) && isScalar(pair.key) ? String(pair.key.value) : "");
