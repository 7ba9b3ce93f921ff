import { opendir } from "node:fs/promises";
import { RequestError } from "@tandem/protocol";
import { runGit } from "./git/git.ts";
import { findRepository } from "./git/repository.ts";
import { openFound } from "./inside/open-inside.ts";

/** Bounds a search in a large tree. */
const MAX_FILES = 100_000;
const MAX_DEPTH = 40;
/** Irrelevant, and often larger than everything else. */
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules"]);

/**
 * Sorted paths of the files below a root: in a git folder those not ignored, otherwise from a bounded walk. Only names:
 * opening a file checks where it leads.
 */
export async function listFiles(root: string, until: number): Promise<string[]> {
  const listed = (await listWithGit(root, until)) ?? (await walk(root, until));
  return listed.sort();
}

async function listWithGit(root: string, until: number): Promise<string[] | undefined> {
  try {
    const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    // Half of the time, so that the fallback walk can use the other half.
    const timeoutMs = Math.max(1, (until - performance.now()) / 2);
    const repository = await findRepository(root);
    if (!repository) return undefined;
    const { exitCode, stdout, truncated } = await runGit({ ...repository, cwd: root }, args, { timeoutMs });
    if (exitCode !== 0 && !truncated) return undefined;
    const paths = stdout.toString("utf8").split("\0");
    // After the last NUL there is nothing, or a truncated name.
    paths.pop();
    // A folder ignored by its outer repository still has files.
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
    if (files.length >= MAX_FILES || folders.length >= MAX_FILES || performance.now() > until) break;
    // Opened one by one, so that no link created in the meantime leads out. Unreadable folders are skipped.
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
