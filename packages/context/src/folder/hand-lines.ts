import { inParallel } from "@tandem/protocol";
import { type GitHistory, TANDEM } from "./git-history.ts";

/** Concurrent `git blame` processes. */
const AT_ONCE = 4;

/** Lines of files at a commit that were last written by foreign commits. */
export async function handLines(
  history: GitHistory,
  head: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
  const { ours, touched } = await readHistory(history, head);
  const waiting = [...new Set(paths)].filter((path) => touched.has(path));
  const found = new Map<string, ReadonlySet<number>>();
  await inParallel(waiting, AT_ONCE, async (path) => {
    const lines = await blame(history, head, path, ours);
    if (lines.size > 0) found.set(path, lines);
  });
  return found;
}

/** Our commits, and the paths that foreign commits ever touched: other files need no blame. */
async function readHistory(history: GitHistory, head: string): Promise<{ ours: Set<string>; touched: Set<string> }> {
  const trailers =
    "%(trailers:key=Tandem-Proposal,valueonly,separator=%x20)%x1f%(trailers:key=Words-By,valueonly,separator=%x20)";
  const output = await history.run([
    "log",
    `--format=%x1e%H%x1f%ce%x1f${trailers}%x1f`,
    "--name-only",
    "-z",
    "-m",
    "--first-parent",
    head,
  ]);
  const ours = new Set<string>();
  const touched = new Set<string>();
  for (const entry of output.split("\x1e")) {
    const [commit = "", committer = "", proposal = "", words = "", names = ""] = entry.split("\x1f");
    if (commit === "") continue;
    // A commit amended or squashed by a person keeps our trailers but may contain their lines, so check the committer
    // too.
    const isOurs = committer === TANDEM.email && proposal.trim() !== "";
    if (isOurs && words.trim() === "") ours.add(commit);
    else for (const name of names.split("\0")) if (name.trim() !== "") touched.add(name.replace(/^\n+/, ""));
  }
  return { ours, touched };
}

async function blame(history: GitHistory, head: string, path: string, ours: ReadonlySet<string>): Promise<Set<number>> {
  const lines = new Set<number>();
  // The file does not exist in the commit.
  if ((await history.run(["ls-tree", "-z", "--full-tree", head, "--", path])) === "") return lines;
  const output = await history.run(["blame", "--porcelain", head, "--", path]);
  for (const line of output.split("\n")) {
    const [, commit, number] = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(line) ?? [];
    if (commit !== undefined && !ours.has(commit)) lines.add(Number(number));
  }
  return lines;
}
