import { constants } from "node:fs";
import { access, lstat, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { RequestError } from "@tandem/protocol";
import { runGit } from "../git/git.ts";
import { findRepository } from "../git/repository.ts";
import type { PrivateGit, RunOptions } from "./private-git.ts";

export interface FolderLimits {
  maxFiles: number;
  maxFileBytes: number;
}

/** Differences between a folder and an index. */
export interface FolderState {
  /** Files to read, or deleted. */
  candidates: string[];
  /** Skipped files: too large, unreadable, or with a name that is not UTF-8. */
  skipped: string[];
  /** Nested repositories, which have their own history. */
  nested: string[];
  /** HEAD of the folder's own repository. */
  head: string | null;
}

/** Average with some reserve. */
const BYTES_PER_NAME = 400;
/** Small ignored files, such as `.env`, are kept; ignored folders are not. */
const MAX_IGNORED_BYTES = 1024 * 1024;
const MAX_IGNORED_FILES = 1_000;
const AT_ONCE = 64;

export async function readFolder(
  git: PrivateGit,
  index: string,
  limits: FolderLimits,
  options: RunOptions,
): Promise<FolderState> {
  const { head, excludes } = await lookAtRepository(git.folder, options);
  const list = (...args: string[]) =>
    listPaths(git, ["ls-files", "-z", ...args, "--exclude-standard", ...excludes], limits, { ...options, index });
  const [changed, ignored, known] = await Promise.all([
    list("-t", "--others", "--modified", "--deleted"),
    list("--others", "--ignored", "--directory"),
    countKnown(index),
  ]);
  const fresh = changed.filter((line) => line.startsWith("? ")).length;
  if (known + fresh > limits.maxFiles) throw tooMany(git.folder, limits);
  const state: FolderState = { candidates: [], skipped: [], nested: [], head };
  const seen = new Set<string>();
  const look = async (path: string, maxBytes: number, isIgnored: boolean): Promise<void> => {
    const verdict = await judge(join(git.folder, path), maxBytes);
    if (verdict === "fits" && !path.includes("\uFFFD")) state.candidates.push(path);
    // Large ignored files are not reported: they were never covered.
    else if (!isIgnored) state.skipped.push(path);
  };
  const waiting: (() => Promise<void>)[] = [];
  for (const line of changed) {
    const path = line.slice(2);
    if (path.endsWith("/")) state.nested.push(path.slice(0, -1));
    else if (!seen.has(path)) waiting.push(() => look(path, limits.maxFileBytes, false));
    seen.add(path);
  }
  const single = ignored.filter((path) => !path.endsWith("/")).slice(0, MAX_IGNORED_FILES);
  const most = Math.min(MAX_IGNORED_BYTES, limits.maxFileBytes);
  for (const path of single) waiting.push(() => look(path, most, true));
  for (let from = 0; from < waiting.length; from += AT_ONCE) {
    await Promise.all(waiting.slice(from, from + AT_ONCE).map((each) => each()));
  }
  state.candidates.sort();
  state.skipped.sort();
  return state;
}

/** A deleted file fits, because its deletion must be recorded. */
async function judge(path: string, maxBytes: number): Promise<"fits" | "left out"> {
  const found = await lstat(path).catch(() => undefined);
  if (!found || found.isSymbolicLink() || found.isDirectory()) return "fits";
  if (found.size > maxBytes) return "left out";
  return access(path, constants.R_OK).then(
    () => "fits" as const,
    () => "left out" as const,
  );
}

/** Reads the folder's own repository; a folder without one works too. */
async function lookAtRepository(
  folder: string,
  { until, signal }: RunOptions,
): Promise<{ head: string | null; excludes: string[] }> {
  const repository = await findRepository(folder);
  if (!repository) return { head: null, excludes: [] };
  const args = ["rev-parse", "--verify", "--quiet", "HEAD"];
  const timeoutMs = until === undefined ? undefined : Math.max(1, until - performance.now());
  const { stdout } = await runGit(repository, args, {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(signal && { signal }),
  });
  const head = stdout.toString("utf8").trim();
  const exclude = join(repository.commonDir, "info", "exclude");
  const isThere = (await stat(exclude).catch(() => undefined))?.isFile();
  return { head: /^[0-9a-f]{40,64}$/.test(head) ? head : null, excludes: isThere ? [`--exclude-from=${exclude}`] : [] };
}

async function listPaths(
  git: PrivateGit,
  args: readonly string[],
  limits: FolderLimits,
  options: RunOptions,
): Promise<string[]> {
  const { exitCode, stdout, stderr, truncated } = await git.run(args, {
    ...options,
    maxBytes: limits.maxFiles * BYTES_PER_NAME,
  });
  if (truncated) throw tooMany(git.folder, limits);
  if (exitCode !== 0) throw new RequestError("unavailable", `${git.folder} cannot be looked through: ${stderr.trim()}`);
  const paths = stdout.toString("utf8").split("\0");
  paths.pop();
  return paths;
}

/** The index header contains the number of files. */
async function countKnown(index: string): Promise<number> {
  const handle = await open(index).catch(() => undefined);
  if (!handle) return 0;
  await using file = handle;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(12), 0, 12, 0);
  return bytesRead === 12 && buffer.toString("latin1", 0, 4) === "DIRC" ? buffer.readUInt32BE(8) : 0;
}

const tooMany = (folder: string, { maxFiles }: FolderLimits): RequestError =>
  new RequestError("too_large", `${folder} has more than ${maxFiles.toLocaleString("en")} files to keep.`, {
    fix: "Let .gitignore leave out what need not be kept, or raise checkpoints.maxFiles.",
  });
