import { TandemError } from "@tandem/protocol";
import { diffLines } from "@tandem/workspace";
import type { Evidence } from "../evidence.ts";
import { toLines } from "../lines/line-edits.ts";
import { METRICS_PREFIX } from "../metric-definitions/metrics-path.ts";
import { fingerprint } from "./fingerprint.ts";
import type { Aspect, Draft, Support } from "../draft.ts";
import { ASPECTS, type Change, type Hunk } from "./proposal.ts";
import { splitRegion, type LineClass } from "./split-region.ts";

/** Classification and evidence of a line. */
interface LineInfo extends LineClass {
  /** Shared by lines with the same evidence. */
  evidence: number[];
}

/** Converts a draft to hunks, each about one subject if possible, with evidence per line. */
export function makeChange({ path, before, after, support, removal = [] }: Draft): Omit<Change, "after"> {
  const evidence = new EvidenceTable();
  const [oldLines, newLines] = [toLines(before), toLines(after)];
  const newInfo = inherit(path, newLines, infoOf(newLines.length, support, evidence));
  const oldInfo = inherit(path, oldLines, infoOf(oldLines.length, removal, evidence));
  const hunks = diffLines(oldLines, newLines).flatMap((edit, index, edits): Omit<Hunk, "id">[] => {
    const shift = edits.slice(0, index).reduce((sum, { start, end, lines }) => sum + lines.length - (end - start), 0);
    const newStart = edit.start + shift;
    const region = {
      old: oldLines.slice(edit.start, edit.end).map((text, i) => ({ text, info: oldInfo[edit.start + i] })),
      new: edit.lines.map((text, i) => ({ text, info: newInfo[newStart + i] })),
    };
    region.new.forEach(({ text, info }, i) => {
      if (!rests(info, evidence) && text.trim() !== "") throw unsupported(path, newStart + i + 1, text);
    });
    return splitRegion(region).map(({ oldFrom, oldTo, newFrom, newTo, aspect, certain, held }) => {
      const [gone, made] = [region.old.slice(oldFrom, oldTo), region.new.slice(newFrom, newTo)];
      if (made.length === 0) {
        gone.forEach(({ text, info }, i) => {
          if (!rests(info, evidence) && text.trim() !== "") throw vanishing(path, edit.start + oldFrom + i + 1, text);
        });
      }
      const hunk = {
        oldStart: edit.start + oldFrom + 1,
        oldLines: gone.map(({ text }) => text),
        newStart: newStart + newFrom + 1,
        newLines: made.map(({ text }) => text),
        aspect: aspect ?? aspectOfPath(path),
        ...(certain && { certain }),
        ...(held !== undefined && { held }),
        support: made.map(({ info }) => info?.evidence ?? []),
        removal: [...new Set(gone.flatMap(({ info }) => info?.evidence ?? []))],
        state: "open" as const,
      };
      return { ...hunk, fingerprint: fingerprint(path, { before: oldLines, after: newLines }, hunk) };
    });
  });
  return { path, before, evidence: evidence.items, hunks: hunks.map((hunk) => ({ id: "", ...hunk })) };
}

/** Deduplicates evidence. */
class EvidenceTable {
  readonly items: Evidence[] = [];
  readonly #places = new Map<string, number>();

  place(evidence: Evidence): number {
    const key = JSON.stringify(evidence);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    this.#places.set(key, this.items.push(evidence) - 1);
    return this.items.length - 1;
  }
}

function infoOf(length: number, support: readonly Support[], evidence: EvidenceTable): (LineInfo | undefined)[] {
  const infos: (LineInfo | undefined)[] = Array.from({ length });
  for (const { from, to, aspect, certain = false, held, evidence: given } of support) {
    const places = given.map((item) => evidence.place(item));
    for (let line = Math.max(1, from); line <= Math.min(to, length); line += 1) {
      const known = infos[line - 1];
      infos[line - 1] = known
        ? {
            aspect: stricter(known.aspect, aspect),
            certain: known.certain && certain,
            held: known.held ?? held,
            evidence: [...new Set([...known.evidence, ...places])],
          }
        : { aspect, certain, held, evidence: places };
    }
  }
  return infos;
}

/** Blank lines and keys without a value join their neighbours. */
function inherit(
  path: string,
  lines: readonly string[],
  infos: readonly (LineInfo | undefined)[],
): (LineInfo | undefined)[] {
  const isBare = bareLines(path, lines);
  return infos.map((info, index) => {
    if (info || !isBare[index]) return info;
    let next = index + 1;
    while (next < lines.length && isBare[next] && !infos[next]) next += 1;
    let previous = index - 1;
    while (previous >= 0 && isBare[previous] && !infos[previous]) previous -= 1;
    return infos[next] ?? infos[previous];
  });
}

function bareLines(path: string, lines: readonly string[]): boolean[] {
  const isYaml = path.endsWith(".yaml");
  const fence = lines[0]?.trimEnd() === "---" ? lines.findIndex((line, i) => i > 0 && line.trimEnd() === "---") : -1;
  return lines.map((line, index) => {
    if (line.trim() === "") return true;
    if (!isYaml && index > fence) return false;
    return /^\s*(- *)*([\w.$-]+:)?\s*(\[\]|\{\})?\s*$/.test(line) || line.trimEnd() === "---";
  });
}

/** A model's judgement alone is not sufficient evidence. */
const rests = (info: LineInfo | undefined, { items }: EvidenceTable): boolean =>
  info !== undefined && info.evidence.some((place) => items[place]!.type !== "model");

const stricter = (a: Aspect, b: Aspect): Aspect => (ASPECTS.indexOf(a) > ASPECTS.indexOf(b) ? a : b);

export function aspectOfPath(path: string): Aspect {
  if (path.startsWith("wiki/")) return "wiki";
  if (path.startsWith(METRICS_PREFIX)) return "metric";
  return path.startsWith("memory/") ? "memory" : "description";
}

const unsupported = (path: string, line: number, text: string): TandemError =>
  new TandemError("unsupported_line", `Line ${line} of ${path} rests on nothing: ${JSON.stringify(text.trim())}.`, {
    fix: "Name what it rests on; a model's judgement alone is not enough.",
  });

const vanishing = (path: string, line: number, text: string): TandemError =>
  new TandemError(
    "unsupported_line",
    `Line ${line} of ${path} would go for no reason: ${JSON.stringify(text.trim())}.`,
    { fix: "Name why it goes." },
  );
