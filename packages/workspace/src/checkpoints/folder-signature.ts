import { createHash } from "node:crypto";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { readSmallFile } from "../read-small-file.ts";
import { findRepository } from "../git/repository.ts";
import { EXCLUDED_FOLDERS } from "./excluded-folders.ts";

/** In a larger folder, git is as fast. */
const MAX_ENTRIES = 1_000;
/** Times of files are coarse: after a change, a second one can leave the same time for this long. */
const COARSE_MS = 100;

/**
 * Names, sizes, modes, inodes and times of everything that a checkpoint depends on. Equal signatures mean an unchanged folder.
 * Undefined if the folder is large, or if a later change might not show in it.
 */
export async function folderSignature(folder: string): Promise<string | undefined> {
  const settled = BigInt(Date.now() - COARSE_MS) * 1_000_000n;
  const lines: string[] = [];
  const note = async (path: string): Promise<boolean> => {
    const { ino, mode, size, mtimeNs, ctimeNs } = await lstat(path, { bigint: true });
    lines.push(`${path}\0${ino} ${mode} ${size} ${mtimeNs} ${ctimeNs}`);
    return ctimeNs < settled && mtimeNs < settled;
  };
  try {
    const folders = [folder];
    for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
      const entries = await readdir(at, { withFileTypes: true });
      if (lines.length + entries.length > MAX_ENTRIES) return undefined;
      const kept = entries.filter((entry) => entry.name !== ".git" && !isExcluded(entry));
      for (const entry of kept) if (entry.isDirectory()) folders.push(join(at, entry.name));
      const isSettled = await Promise.all(kept.map(({ name }) => note(join(at, name))));
      if (isSettled.includes(false)) return undefined;
    }
    for (const file of await repositoryFiles(folder)) await note(file).catch(() => lines.push(`${file}\0absent`));
  } catch {
    // A file vanished during the walk.
    return undefined;
  }
  return createHash("sha256").update(lines.toSorted().join("\n")).digest("hex");
}

const isExcluded = (entry: { name: string; isDirectory(): boolean }): boolean =>
  entry.isDirectory() && EXCLUDED_FOLDERS.has(entry.name);

/** Files that change with HEAD of the folder's own repository and with what it ignores. */
async function repositoryFiles(folder: string): Promise<string[]> {
  const repository = await findRepository(folder);
  if (!repository) return [];
  const { gitDir, commonDir } = repository;
  const head = await readSmallFile(join(gitDir, "HEAD"));
  const ref = /^ref: (refs\/\S+)$/m.exec(head)?.[1];
  return [
    ...["HEAD", "logs/HEAD", "index"].map((name) => join(gitDir, name)),
    ...["packed-refs", "info/exclude", ...(ref === undefined ? [] : [ref])].map((name) => join(commonDir, name)),
  ];
}
