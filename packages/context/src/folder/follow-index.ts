import type { GitHistory } from "./git-history.ts";
import { retryGit } from "./retry-git.ts";

type Tree = ReadonlyMap<string, string>;

/**
 * Updates the index of the context's own repository after a commit that bypassed it; otherwise git would show the
 * reverse of our commit as staged. Files with other staged content are left alone.
 */
export async function followIndex(
  history: GitHistory,
  paths: readonly string[],
  before: Tree,
  after: Tree,
): Promise<void> {
  // Race: the user's git may hold the lock.
  await retryGit(async () => {
    const staged = await readIndex(history);
    const lines = paths
      .filter((path) => staged.get(path) === before.get(path))
      .map((path) => {
        const blob = after.get(path);
        return blob === undefined ? `0 ${"0".repeat(40)}\t${path}` : `100644 ${blob}\t${path}`;
      });
    if (lines.length > 0) await history.run(["update-index", "-z", "--index-info"], `${lines.join("\0")}\0`);
  });
}

async function readIndex(history: GitHistory): Promise<Map<string, string>> {
  const entries = (await history.run(["ls-files", "--stage", "-z"])).split("\0");
  return new Map(
    entries.flatMap((entry): [string, string][] => {
      const [, blob, stage, path] = /^\d+ ([0-9a-f]+) (\d)\t(.*)$/s.exec(entry) ?? [];
      // Unmerged entries are work in progress; this value matches no blob.
      return blob === undefined || path === undefined ? [] : [[path, stage === "0" ? blob : "unmerged"]];
    }),
  );
}
