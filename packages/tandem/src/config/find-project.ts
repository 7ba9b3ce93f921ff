import { TandemError } from "@tandem/protocol";
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const CONFIG_FILE = "tandem.yaml";

/** A project folder. Its `tandem.yaml` may not exist yet. */
export interface ProjectLocation {
  /** Absolute, with symbolic links resolved. */
  folder: string;
  file: string;
  /** The path shown in messages: relative if that is shorter. */
  displayPath: string;
}

/**
 * Finds the nearest folder at or above `cwd` with a `tandem.yaml`. `explicit` (from `--project` or TANDEM_PROJECT) is used
 * without a search. Returns undefined if there is none.
 */
export function findProject(cwd: string, explicit: string | undefined): ProjectLocation | undefined {
  if (explicit !== undefined) return projectAt(resolve(cwd, explicit), cwd);
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, CONFIG_FILE))) return projectAt(folder, cwd);
    if (folder === dirname(folder)) return undefined;
  }
}

export function projectAt(folder: string, cwd: string): ProjectLocation {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new TandemError("usage", `There is no folder ${folder}.`, {
      fix: "Pass an existing folder to --project, or set TANDEM_PROJECT to one.",
    });
  }
  const real = realpathSync(folder);
  const file = join(real, CONFIG_FILE);
  const fromHere = relative(realpathSync(cwd), file);
  return { folder: real, file, displayPath: fromHere.length < file.length ? fromHere : file };
}
