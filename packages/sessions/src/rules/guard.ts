import { basename, dirname, join, sep } from "node:path";
import type { Caution } from "./judge-parts.ts";
import { realPath, type Place } from "./path-pattern.ts";

/** Folders in which a file decides what other programs run. */
const DECIDING = new Set([".git", ".claude", ".husky"]);

/**
 * Places that nobody writes to by the way: asked for in every mode unless a rule allows it. Who may write to `.git/config`
 * decides what `git status` runs, and who may write to Tandem's own state decides what this session may do.
 */
export function guardOf(path: string, access: "read" | "write", place: Place): Caution | undefined {
  const real = realPath(path);
  if (real === undefined) return { why: "where the path leads cannot be found out" };
  if (place.state !== undefined && isInside(place.state, real) && !isInside(place.folder, real)) {
    // Claude Code keeps long results there, for itself to read.
    const isClaudes = access === "read" && isInside(join(place.state, "claude-code"), real);
    if (!isClaudes) return { why: "it is in Tandem's own folder" };
  }
  if (access === "read") return undefined;
  const inner = real.startsWith(place.folder + sep) ? real.slice(place.folder.length) : real;
  for (let at = inner; at !== dirname(at); at = dirname(at)) {
    if (DECIDING.has(basename(at))) return { why: `what is in ${basename(at)} decides what other programs run` };
  }
  return undefined;
}

export const isInside = (folder: string, path: string): boolean => path === folder || path.startsWith(folder + sep);
