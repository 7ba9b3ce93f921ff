import { TandemError } from "@tandem/protocol";
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const CONFIG_FILE = "tandem.yaml";

/** A folder that is, or is to become, a project. */
export interface ProjectPlace {
  /** Absolute, symbolic links resolved. */
  folder: string;
  file: string;
  /** The file as messages name it: relative where that is shorter. */
  shownFile: string;
}

/**
 * The nearest folder at or above `cwd` that has a `tandem.yaml`; `explicit` (from `--project` or TANDEM_PROJECT) is taken
 * as it is. Undefined if there is none.
 */
export function findProject(cwd: string, explicit: string | undefined): ProjectPlace | undefined {
  if (explicit !== undefined) return projectAt(resolve(cwd, explicit), cwd);
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, CONFIG_FILE))) return projectAt(folder, cwd);
    if (folder === dirname(folder)) return undefined;
  }
}

export function projectAt(folder: string, cwd: string): ProjectPlace {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new TandemError("usage", `There is no folder ${folder}.`, {
      fix: "Pass an existing folder to --project, or set TANDEM_PROJECT to one.",
    });
  }
  const real = realpathSync(folder);
  const file = join(real, CONFIG_FILE);
  const fromHere = relative(realpathSync(cwd), file);
  return { folder: real, file, shownFile: fromHere.length < file.length ? fromHere : file };
}
