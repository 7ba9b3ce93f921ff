import { lstat, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RequestError } from "@tandem/protocol";
import type { PathChange } from "./changed-paths.ts";

/** A folder with more entries is assumed to contain unsaved data. */
const MAX_ENTRIES = 10_000;

/** Rejects if a restore would overwrite something unsaved: git itself silently overwrites ignored files. */
export async function refuseLoss(folder: string, changes: readonly PathChange[]): Promise<void> {
  const leaves = new Set(changes.flatMap(({ path, from }) => (from ? [path] : [])));
  const isFolder = new Map<string, boolean>();
  for (const { path } of changes.filter(({ from }) => from === null)) {
    if (!(await leadsThere(folder, dirname(path), leaves, isFolder))) continue;
    const found = await lstat(join(folder, path)).catch(() => undefined);
    if (!found) continue;
    const stays = found.isDirectory() ? await firstOther(folder, path, leaves) : path;
    if (stays !== undefined) throw inTheWay(stays);
  }
}

/**
 * Whether the parents of a path are folders. A file or link among them that is being deleted hides what is behind it.
 */
async function leadsThere(
  folder: string,
  path: string,
  leaves: ReadonlySet<string>,
  known: Map<string, boolean>,
): Promise<boolean> {
  if (path === ".") return true;
  const before = known.get(path);
  if (before !== undefined) return before;
  let leads = await leadsThere(folder, dirname(path), leaves, known);
  if (leads) {
    const found = await lstat(join(folder, path)).catch(() => undefined);
    if (found && !found.isDirectory() && !leaves.has(path)) throw inTheWay(path);
    leads = found?.isDirectory() ?? false;
  }
  known.set(path, leads);
  return leads;
}

/** The first path below a folder that is not being deleted. */
async function firstOther(
  folder: string,
  path: string,
  leaves: ReadonlySet<string>,
  budget = { entries: MAX_ENTRIES },
): Promise<string | undefined> {
  for (const entry of await readdir(join(folder, path), { withFileTypes: true })) {
    const inner = `${path}/${entry.name}`;
    if ((budget.entries -= 1) < 0) return inner;
    const other = entry.isDirectory() ? await firstOther(folder, inner, leaves, budget) : inner;
    if (other !== undefined && !leaves.has(other)) return other;
  }
  return undefined;
}

const inTheWay = (path: string): RequestError =>
  new RequestError("conflict", `${path} is in the way of a file that is to come back, and is kept nowhere.`, {
    fix: "Move it elsewhere and try again.",
  });
