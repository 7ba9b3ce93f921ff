import { opendir } from "node:fs/promises";
import { RequestError } from "@tandem/protocol";
import { runGit } from "./git.ts";
import { openFound } from "./open-inside.ts";

/** As many paths as a search looks at; the rest of a larger tree is left out. */
const MAX_FILES = 100_000;
const MAX_DEPTH = 40;
/** Never of interest, and often larger than all the rest. */
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules"]);

/**
 * Paths of the files below a root, sorted: in a git folder those that git does not ignore, elsewhere all that a bounded
 * walk finds. They are names and no more: what they lead to is checked by whoever opens them.
 */
export async function listFiles(root: string, until: number): Promise<string[]> {
  const listed = (await listWithGit(root, until)) ?? (await walk(root, until));
  return listed.sort();
}

async function listWithGit(root: string, until: number): Promise<string[] | undefined> {
  try {
    const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    // Half of the time: if that is not enough, a walk still finds something in the other half.
    const timeoutMs = Math.max(1, (until - Date.now()) / 2);
    const { exitCode, stdout, truncated } = await runGit(root, args, { timeoutMs });
    if (exitCode !== 0 && !truncated) return undefined;
    const paths = stdout.toString("utf8").split("\0");
    // What follows the last NUL is nothing, or a name that was cut.
    paths.pop();
    // A folder that the repository around it ignores has files all the same.
    return paths.length === 0 ? undefined : [...new Set(paths)].slice(0, MAX_FILES);
  } catch (error) {
    if (error instanceof RequestError && error.code !== "invalid_request") return undefined;
    throw error;
  }
}

async function walk(root: string, until: number): Promise<string[]> {
  const files: string[] = [];
  const folders = [""];
  for (const path of folders) {
    if (files.length >= MAX_FILES || folders.length >= MAX_FILES || Date.now() > until) break;
    // Opened one by one, so that no link that appears meanwhile leads out; what cannot be opened has no files for us.
    const opened = await openFound(root, path, "folder").catch(() => undefined);
    if (!opened) continue;
    await using folder = opened;
    for await (const entry of await opendir(folder.place)) {
      const inner = path === "" ? entry.name : `${path}/${entry.name}`;
      if (entry.isFile()) files.push(inner);
      else if (entry.isDirectory() && !SKIPPED.has(entry.name) && depthOf(inner) <= MAX_DEPTH) folders.push(inner);
      if (files.length >= MAX_FILES) break;
    }
  }
  return files;
}

const depthOf = (path: string): number => path.split("/").length;
