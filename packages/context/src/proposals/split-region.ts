import { diffLines } from "@tandem/workspace";
import type { Aspect } from "../draft.ts";
import { ASPECTS } from "./proposal.ts";

/** Lines of one class are decided together. */
export interface LineClass {
  aspect: Aspect;
  certain: boolean;
  held?: string;
}

interface Line {
  text: string;
  info: LineClass | undefined;
}

export interface Part {
  oldFrom: number;
  oldTo: number;
  newFrom: number;
  newTo: number;
  aspect: Aspect | undefined;
  certain: boolean;
  held: string | undefined;
}

/**
 * Splits neighbouring changed lines by class. Old and new lines are paired by their keys; inseparable lines stay
 * together under the strictest class.
 */
export function splitRegion(region: { old: readonly Line[]; new: readonly Line[] }): Part[] {
  const parts: Part[] = [];
  for (const atom of atoms(
    region.old.map(({ text }) => text),
    region.new.map(({ text }) => text),
  )) {
    const made = region.new.slice(atom.newFrom, atom.newTo);
    const gone = region.old.slice(atom.oldFrom, atom.oldTo);
    // The new line decides the subject of a replacement.
    const { aspect, certain, held } = classOf(made.length > 0 ? made : gone);
    const last = parts.at(-1);
    const isSame = last?.aspect === aspect && last?.certain === certain && last?.held === held;
    if (last && (aspect === undefined || last.aspect === undefined || isSame)) {
      Object.assign(last, { oldTo: atom.oldTo, newTo: atom.newTo });
      if (last.aspect === undefined) Object.assign(last, { aspect, certain, held });
    } else {
      parts.push({ ...atom, aspect, certain, held });
    }
  }
  return parts;
}

type Atom = Pick<Part, "oldFrom" | "oldTo" | "newFrom" | "newTo">;

/** Smallest pieces: a line replaced by one with the same key, or single insertions and deletions. */
function atoms(old: readonly string[], made: readonly string[]): Atom[] {
  const result: Atom[] = [];
  let [o, n] = [0, 0];
  const pair = (upTo: number) => {
    for (; o < upTo; o += 1, n += 1) result.push({ oldFrom: o, oldTo: o + 1, newFrom: n, newTo: n + 1 });
  };
  for (const { start, end, lines } of diffLines(old.map(keyOf), made.map(keyOf))) {
    pair(start);
    if (end > start && lines.length > 0) {
      result.push({ oldFrom: start, oldTo: end, newFrom: n, newTo: n + lines.length });
    } else {
      for (let i = start; i < end; i += 1) result.push({ oldFrom: i, oldTo: i + 1, newFrom: n, newTo: n });
      for (let i = n; i < n + lines.length; i += 1)
        result.push({ oldFrom: start, oldTo: start, newFrom: i, newTo: i + 1 });
    }
    [o, n] = [end, n + lines.length];
  }
  pair(old.length);
  return result;
}

const keyOf = (line: string): string => /^(\s*(?:- )?[\w$.-]+:)/.exec(line)?.[1] ?? line;

function classOf(lines: readonly Line[]): Pick<Part, "aspect" | "certain" | "held"> {
  const infos = lines.flatMap(({ info }) => info ?? []);
  const aspect = infos.map((info) => info.aspect).toSorted((a, b) => ASPECTS.indexOf(b) - ASPECTS.indexOf(a))[0];
  const held = infos.find((info) => info.held !== undefined)?.held;
  return { aspect, certain: infos.length > 0 && infos.every((info) => info.certain), held };
}
