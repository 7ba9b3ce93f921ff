import { createScratchFolder, isAlive, removeFolder } from "@tandem/workspace";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { inParallel } from "@tandem/protocol";
import { ContextFiles } from "./context-files.ts";
import type { ContextWorktree, FileChange } from "./context-folder.ts";

/** Concurrent file writes. */
const AT_ONCE = 16;

/** Writes a copy of files into a new folder below `scratch`. Its name contains the owner's pid. */
export async function checkOut(
  scratch: string,
  name: string,
  contents: ReadonlyMap<string, Buffer>,
): Promise<ContextWorktree> {
  const label = name.replaceAll(/[^\w-]+/g, "-").slice(0, 40);
  const path = await createScratchFolder(scratch, `${process.pid}-${label}-${crypto.randomUUID().slice(0, 8)}`);
  const files = new ContextFiles(path, { isDurable: false });
  const remove = () => removeFolder(scratch, path);
  try {
    await inParallel([...contents], AT_ONCE, ([file, content]) => files.write(file, content));
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    path,
    async changes(): Promise<FileChange[]> {
      const paths = new Set([...contents.keys(), ...(await files.list())]);
      const changes: FileChange[] = [];
      for (const file of [...paths].sort()) {
        const expected = contents.get(file)?.toString("utf8") ?? null;
        const content = (await files.read(file)) ?? null;
        if (content !== expected) changes.push({ path: file, expected, content });
      }
      return changes;
    },
    [Symbol.asyncDispose]: remove,
  };
}

/** Removes worktrees of dead processes. */
export async function sweepWorktrees(scratch: string): Promise<void> {
  const names = await readdir(scratch).catch(() => []);
  for (const name of names) {
    const pid = Number(/^(\d+)-/.exec(name)?.[1]);
    if (pid > 0 && !isAlive(pid)) await removeFolder(scratch, join(scratch, name));
  }
}
