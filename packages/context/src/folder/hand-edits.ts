import { type GitHistory, TANDEM } from "./git-history.ts";

/** What a file was before and after somebody who is not us has changed it. */
export interface HandEdit {
  before: string;
  after: string;
}

/** The changes that people have made in files, by path. Files that they have made or removed are no changes. */
export async function handEdits(
  history: GitHistory,
  head: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, readonly HandEdit[]>> {
  const wanted = new Set(paths);
  const found: { path: string; before: string; after: string }[] = [];
  const trailers = "%(trailers:key=Tandem-Proposal,valueonly,separator=%x20)";
  const output = await history.run([
    ...["log", `--format=%x1e%ce%x1f${trailers}%x1f`, "--raw", "--no-abbrev", "--no-renames", "-z", "-m"],
    ...["--first-parent", "--diff-filter=M", head],
  ]);
  for (const entry of output.split("\x1e")) {
    const [committer = "", proposal = "", changes = ""] = entry.split("\x1f");
    if (committer === TANDEM.email && proposal.trim() !== "") continue;
    for (const [, before = "", after = "", path = ""] of changes.matchAll(RAW)) {
      if (wanted.has(path)) found.push({ path, before, after });
    }
  }
  const blobs = await history.blobs(found.flatMap(({ before, after }) => [before, after]));
  const textOf = (name: string) => blobs.get(name)!.toString("utf8");
  return Map.groupBy(
    found.map(({ path, before, after }) => ({ path, before: textOf(before), after: textOf(after) })),
    ({ path }) => path,
  );
}

/** `:100644 100644 OLD NEW M`, and behind a zero the path. */
const RAW = /:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) M\0([^\0]+)\0/g;
