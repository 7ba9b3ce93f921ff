import { existsSync } from "node:fs";
import { basename, dirname, join, matchesGlob, sep } from "node:path";
import { DECIDING_NAMES, foldName, isDecidingName } from "./deciding-names.ts";
import type { Caution } from "./judge-parts.ts";
import { realPath, type SessionPaths } from "./path-pattern.ts";
import { isInside, isSecret } from "./secrets.ts";

/**
 * Guarded paths ask in every mode unless a rule allows them. Writing `.git/config` controls what `git status` runs; writing
 * Tandem's state controls what this session may do.
 */
export function guardOf(
  path: string,
  access: "read" | "write",
  paths: SessionPaths,
  below = false,
): Caution | undefined {
  const real = realPath(path);
  if (isSecret(path, paths, below))
    return { why: "the path is in Tandem's own folder or holds credentials", spelled: path };
  if (real === undefined) return { why: "the path cannot be resolved" };
  if (access === "read") return undefined;
  // Claude Code may read its own files there; no session may write them.
  if (paths.state !== undefined && isInside(paths.state, real) && !isInside(paths.folder, real)) {
    return { why: "the path is in Tandem's own folder" };
  }
  return guardOfWriting(real, paths);
}

function guardOfWriting(real: string, { folder, hookFiles = [] }: SessionPaths): Caution | undefined {
  if (hookFiles.some((file) => foldPath(file) === foldPath(real))) return { why: "a hook of the host runs this file" };
  for (let at = withinFolder(real, folder); at !== dirname(at); at = dirname(at)) {
    if (isDecidingName(basename(at))) {
      return { why: `${basename(at)} controls what other programs run` };
    }
  }
  return undefined;
}

/** Checks whether a shell glob may expand to a guarded name. */
export function guardOfGlob(glob: string, { folder }: SessionPaths): Caution | undefined {
  const parts = glob.split(sep);
  for (const [index, part] of parts.entries()) {
    const above = parts.slice(0, index).join(sep);
    const name = DECIDING_NAMES.find(
      (each) => isGlobFor(part, each) && (/[*?[]/.test(above) || existsSync(join(above, each))),
    );
    if (name !== undefined && glob.startsWith(folder)) {
      return { why: `it may expand to ${name}, which controls what other programs run` };
    }
  }
  return undefined;
}

const isGlobFor = (part: string, name: string): boolean =>
  // In shells, `*` does not match a leading dot.
  /[*?[]/.test(part) && (part.startsWith(".") || !name.startsWith(".")) && matchesGlob(name, foldName(part));

const withinFolder = (real: string, folder: string): string =>
  real.startsWith(folder + sep) ? real.slice(folder.length) : real;

const foldPath = (path: string): string => path.split(sep).map(foldName).join(sep);
