import { lstat, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { RequestError } from "@tandem/protocol";
import { git } from "../git/git.ts";
import { makeTemporary } from "../git/git-user.ts";
import { giveTree } from "../give-tree.ts";
import { isInside } from "../inside/is-inside.ts";
import { openFound } from "../inside/open-inside.ts";
import { readInside } from "../inside/read-inside.ts";
import { openRepository } from "../git/repository.ts";
import { writeInside } from "../inside/write-inside.ts";

/** A repository's patterns for untracked files that its worktrees need. */
const INCLUDE_FILE = ".worktreeinclude";
const INCLUDE_BYTES = 64 * 1_024;
/** Dependencies should be installed by the setup command; this limit catches them if they are listed by mistake. */
const MAX_FILES = 10_000;
const MAX_BYTES = 1_024 ** 3;

export interface Copied {
  files: string[];
  /** Listed files that were not copied, with the reason. */
  skipped: { path: string; why: string }[];
}

/**
 * Copies untracked files from a repository into one of its worktrees: those that the patterns or its `.worktreeinclude`
 * match (both in `.gitignore` syntax). Links out of the repository are not followed, and existing files are not
 * overwritten.
 */
export async function copyIncluded(repository: string, into: string, patterns: readonly string[]): Promise<Copied> {
  const wanted = [await readIncludeFile(repository), ...patterns].join("\n");
  const copied: Copied = { files: [], skipped: [] };
  if (wanted.trim() === "") return copied;
  let left = MAX_BYTES;
  for (const path of await listWanted(repository, wanted)) {
    try {
      left -= await copyOne(repository, into, path);
      copied.files.push(path);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      copied.skipped.push({ path, why: error.message });
    }
    if (left < 0) throw tooMuch(repository, "more than 1 GB");
  }
  return copied;
}

async function readIncludeFile(repository: string): Promise<string> {
  try {
    const file = await readInside(repository, INCLUDE_FILE, { maxBytes: INCLUDE_BYTES });
    return "text" in file ? file.text : "";
  } catch (error) {
    if (error instanceof RequestError && error.code === "not_found") return "";
    throw error;
  }
}

/** git itself evaluates the patterns, so that they behave as in a `.gitignore`. */
async function listWanted(repository: string, patterns: string): Promise<string[]> {
  const opened = await openRepository(repository);
  const folder = await makeTemporary("tandem-include-", opened.user);
  try {
    const file = join(folder, "patterns");
    await writeFile(file, `${patterns}\n`, { mode: 0o600 });
    if (opened.user) await giveTree(file, opened.user);
    const args = ["ls-files", "--others", "--ignored", "-z", `--exclude-from=${file}`];
    const paths = (await git(opened, args)).split("\0").filter((path) => path !== "" && !path.endsWith("/"));
    if (paths.length > MAX_FILES) throw tooMuch(repository, `${paths.length} files`);
    return paths;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the number of bytes copied. */
async function copyOne(repository: string, into: string, path: string): Promise<number> {
  const from = join(repository, path);
  const stats = await lstat(from).catch((cause: unknown) => {
    throw new RequestError("not_found", "It is gone.", { cause });
  });
  if (stats.isSymbolicLink()) {
    const target = await readlink(from);
    if (isAbsolute(target) || !isInside(repository, resolve(dirname(from), target))) {
      throw new RequestError("forbidden", "It is a link that leads out of the repository.");
    }
    // Write a file first: this resolves the path without following links.
    const place = await writeInside(into, path, new Uint8Array());
    await rm(place);
    await symlink(target, place);
    return 0;
  }
  await using opened = await openFound(repository, path, "file");
  const stream = opened.handle.createReadStream({ autoClose: false });
  await writeInside(into, path, stream, Number(opened.stats.mode) & 0o777);
  return Number(opened.stats.size);
}

const tooMuch = (repository: string, what: string): RequestError =>
  new RequestError("too_large", `The files to copy from ${repository} into a worktree are too much: ${what}.`, {
    fix: "List less in worktrees.copy and .worktreeinclude; let worktrees.setup install the rest.",
  });
