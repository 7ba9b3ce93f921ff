import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";

/** A turn writes its transcript, files of tools and checkpoints. With less room it would fail in the middle. */
const LEAST_BYTES = 64 * 1024 * 1024;
const MEGABYTE = 1024 * 1024;

export interface WorkerNeeds {
  /** Claude Code's executable. */
  executable: string;
  /** Folders that turns write to. Missing and read-only ones are ignored. */
  folders: readonly string[];
}

/** Why a worker cannot run turns now; undefined if it can. */
export async function workerProblem(
  { executable, folders }: WorkerNeeds,
  leastBytes = LEAST_BYTES,
): Promise<string | undefined> {
  try {
    await access(executable, constants.X_OK);
  } catch {
    return `Claude Code is missing at ${executable}. Install it again`;
  }
  for (const folder of folders) {
    const bytes = await roomIn(folder);
    if (bytes < leastBytes) {
      const left = Math.floor(bytes / MEGABYTE);
      return `the disk of ${folder} is full (${left} MB free, ${leastBytes / MEGABYTE} MB needed). Free some space`;
    }
  }
  return undefined;
}

async function roomIn(folder: string): Promise<number> {
  try {
    // A read-only file system, such as an image, has no free blocks.
    await access(folder, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
