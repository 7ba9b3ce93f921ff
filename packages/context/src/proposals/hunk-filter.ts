import { HUNK_KINDS, HUNK_ORIGINS } from "@tandem/protocol";
import { matchesGlob } from "node:path";
import { z } from "zod";
import { decodeName } from "../catalogue/table-path.ts";
import type { Change, Hunk } from "./proposal.ts";

/** Selects hunks of a proposal. Criteria are combined with "and", the values of one criterion with "or". */
export const hunkFilter = z.strictObject({
  kinds: z.array(z.enum(HUNK_KINDS)).optional(),
  origins: z.array(z.enum(HUNK_ORIGINS)).optional(),
  /** Glob patterns; see `pathMatcher`. */
  paths: z.array(z.string()).optional(),
  /** Selects only joins. */
  minConfidence: z.number().optional(),
  /** Selects only joins. */
  certain: z.boolean().optional(),
});
export type HunkFilter = z.output<typeof hunkFilter>;

export interface HunkFacts {
  kind: (typeof HUNK_KINDS)[number];
  origin: (typeof HUNK_ORIGINS)[number];
  /** Verified in the data; only for joins. */
  certain: boolean;
  /** The lowest confidence of its joins; null for other kinds. */
  confidence: number | null;
}

type HunkPlace = Pick<Change, "path" | "evidence">;

/** The facts that filters and groups use. All are derived, so that proposals of earlier versions have them too. */
export function hunkFacts({ evidence }: HunkPlace, hunk: Hunk): HunkFacts {
  const isJoin = hunk.aspect === "join";
  const places = new Set([...hunk.support.flat(), ...hunk.removal]);
  const types = new Set([...places].map((place) => evidence[place]?.type));
  return {
    kind: hunk.aspect === "structure" && isAboutKeys(hunk) ? "key" : hunk.aspect,
    origin: originOf(types),
    certain: isJoin && hunk.certain === true,
    confidence: isJoin ? confidenceOf(hunk.newLines) : null,
  };
}

export function hunkMatcher(filter: HunkFilter): (place: HunkPlace, hunk: Hunk) => boolean {
  const { kinds, origins, minConfidence, certain, paths } = filter;
  const isPath = paths ? pathMatcher(paths) : () => true;
  return (place, hunk) => {
    if (!isPath(place.path)) return false;
    const facts = hunkFacts(place, hunk);
    if (kinds && !kinds.includes(facts.kind)) return false;
    if (origins && !origins.includes(facts.origin)) return false;
    if (certain !== undefined && (facts.kind !== "join" || facts.certain !== certain)) return false;
    return minConfidence === undefined || (facts.confidence !== null && facts.confidence >= minConfidence);
  };
}

/** For the note of a decision: `filter: kind join, path shop/sales.*`. */
export function describeFilter({ kinds, origins, paths, minConfidence, certain }: HunkFilter): string {
  const parts = [
    kinds && `kind ${kinds.join(" or ")}`,
    origins && `origin ${origins.join(" or ")}`,
    paths && `path ${paths.join(" or ")}`,
    minConfidence !== undefined && `confidence at least ${minConfidence}`,
    certain !== undefined && (certain ? "verified joins" : "joins that were not verified"),
  ].filter(Boolean);
  return parts.length > 0 ? `filter: ${parts.join(", ")}` : "filter: all";
}

/**
 * A pattern may name the whole path (`wiki/finance/**`), the path without folder and ending (`shop/sales.orders`), a
 * table with its schema (`sales.*`) or without it (`orders`).
 */
function pathMatcher(patterns: readonly string[]): (path: string) => boolean {
  const known = new Map<string, boolean>();
  return (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const names = namesOf(path);
    const isMatch = patterns.some((pattern) => names.some((name) => matchesGlob(name, pattern)));
    known.set(path, isMatch);
    return isMatch;
  };
}

function namesOf(path: string): string[] {
  const plain = path.replace(/\.(yaml|md)$/, "");
  const [top, ...rest] = plain.split("/");
  const name = rest.at(-1) ?? plain;
  const names = [path, plain, rest.join("/"), name];
  if (top === "catalogue") names.push(name.slice(name.indexOf(".") + 1));
  return [...new Set([...names, ...names.map(decodeName)])];
}

function isAboutKeys({ oldLines, newLines }: Hunk): boolean {
  const lines = [...newLines, ...oldLines].filter((line) => line.trim() !== "");
  return lines.length > 0 && lines.every((line) => /^(primaryKey|uniqueKeys):|^ +(- )+/.test(line)) && isKey(lines[0]!);
}

const isKey = (line: string): boolean => /^(primaryKey|uniqueKeys):/.test(line);

function originOf(types: ReadonlySet<string | undefined>): HunkFacts["origin"] {
  if (types.has("person")) return "person";
  if (types.has("event") || types.has("agent")) return "session";
  if (types.has("source")) return "source";
  return types.has("model") ? "model" : "data";
}

function confidenceOf(lines: readonly string[]): number | null {
  const found = lines.flatMap((line) => {
    const [, text] = /^\s*(?:- )?confidence: ([\d.]+)\s*$/.exec(line) ?? [];
    return text === undefined ? [] : [Number(text)];
  });
  return found.length > 0 ? Math.min(...found) : null;
}
