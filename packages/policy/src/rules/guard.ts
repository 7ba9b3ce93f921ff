import { existsSync } from "node:fs";
import { basename, dirname, join, matchesGlob, sep } from "node:path";
import type { Caution } from "./judge-parts.ts";
import { realPath, type Place } from "./path-pattern.ts";
import { isInside, isSecret } from "./secrets.ts";

/** Files and folders that decide what other programs run, or what Tandem lets this session do. */
const DECIDING: readonly string[] = [
  ...[".git", ".claude", ".husky", ".tandem", ".opencode"],
  ...["tandem.yaml", ".mcp.json", ".envrc", "opencode.json", "opencode.jsonc"],
];

/**
 * Places that nobody writes to by the way: asked for in every mode unless a rule allows it. Who may write to `.git/config`
 * decides what `git status` runs, and who may write to Tandem's own state decides what this session may do.
 */
export function guardOf(path: string, access: "read" | "write", place: Place, below = false): Caution | undefined {
  const real = realPath(path);
  if (isSecret(path, place, below)) return { why: "it is in Tandem's own folder, or holds credentials", spelled: path };
  if (real === undefined) return { why: "where the path leads cannot be found out" };
  if (access === "read") return undefined;
  // What Claude Code keeps there is its own to read, and nobody else's to write.
  if (place.state !== undefined && isInside(place.state, real) && !isInside(place.folder, real)) {
    return { why: "it is in Tandem's own folder" };
  }
  return guardOfWriting(real, place);
}

function guardOfWriting(real: string, { folder, hookFiles = [] }: Place): Caution | undefined {
  if (hookFiles.some((file) => fold(file) === fold(real))) return { why: "a hook of the host's runs it" };
  for (let at = withinFolder(real, folder); at !== dirname(at); at = dirname(at)) {
    // Whether case matters depends on the file system of each folder, so it never does here.
    if (DECIDING.includes(fold(basename(at)))) {
      return { why: `what is in ${basename(at)} decides what other programs run` };
    }
  }
  return undefined;
}

/** Names that a shell's pattern may become, and that decide what other programs run. */
export function guardOfGlob(glob: string, { folder }: Place): Caution | undefined {
  const parts = glob.split(sep);
  for (const [index, part] of parts.entries()) {
    const above = parts.slice(0, index).join(sep);
    const name = DECIDING.find(
      (each) => isGlobFor(part, each) && (/[*?[]/.test(above) || existsSync(join(above, each))),
    );
    if (name !== undefined && glob.startsWith(folder)) {
      return { why: `it may become ${name}, which decides what other programs run` };
    }
  }
  return undefined;
}

const isGlobFor = (part: string, name: string): boolean =>
  // A star does not stand for the dot at the beginning of a name.
  /[*?[]/.test(part) && (part.startsWith(".") || !name.startsWith(".")) && matchesGlob(name, fold(part));

const withinFolder = (real: string, folder: string): string =>
  real.startsWith(folder + sep) ? real.slice(folder.length) : real;

const fold = (name: string): string => name.normalize("NFC").toLowerCase();
