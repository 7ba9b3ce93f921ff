import { type GitHistory, TANDEM } from "./git-history.ts";

/** A file before and after a foreign change. */
export interface HandEdit {
  before: string;
  after: string;
}

/** People's changes to files, by path. Excludes created and removed files. */
export async function handEdits(
  history: GitHistory,
  head: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, readonly HandEdit[]>> {
  const wanted = new Set(paths);
  const found: { path: string; before: string; after: string }[] = [];
  const trailers = "%(trailers:key=Tandem-Proposal,valueonly,separator=%x20)";
  const output = await history.run([
    "log",
    `--format=%x1e%ce%x1f${trailers}%x1f`,
    "--raw",
    "--no-abbrev",
    "--no-renames",
    "-z",
    "-m",
    "--first-parent",
    "--diff-filter=M",
    head,
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

/** Format: `:100644 100644 OLD NEW M`, NUL, path. */
const RAW = /:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) M\0([^\0]+)\0/g;
