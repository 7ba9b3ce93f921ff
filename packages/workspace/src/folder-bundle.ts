import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RequestError } from "@tandem/protocol";
import type { Checkpoint, CheckpointStore } from "./checkpoints/checkpoint-store.ts";
import { git, GitFailed, runGit } from "./git/git.ts";

/** A branch of a bundle. */
export type BundleSide = "before" | "after";

export interface FolderBundle {
  before: { tree: string; files: number };
  after: { tree: string; files: number };
  /** Paths of files with redacted credentials. */
  redacted: string[];
  /** A git bundle. Equal files give equal trees; commits have a fixed date. */
  bundle: Buffer;
}

export interface BundleLimits {
  maxBytes: number;
  maxFiles: number;
}

const SIDES = ["before", "after"] as const;
const COMMITTER = "committer Tandem <tandem@localhost> 0 +0000";
/** Compressed content with git's own data is smaller than this beside it. */
const OVERHEAD_BYTES = 1024 * 1024;

/** Bundles two checkpoints of a folder. Rejects with `too_large` if they exceed the limits. */
export async function createFolderBundle(
  store: CheckpointStore,
  sides: Record<BundleSide, Checkpoint>,
  { redact, limits }: { redact: (text: string) => string; limits: BundleLimits },
): Promise<FolderBundle> {
  const files = { before: await store.files(sides.before), after: await store.files(sides.after) };
  const sizes = new Map([...files.before, ...files.after].map(({ blob, bytes }) => [blob, bytes]));
  const bytes = [...sizes.values()].reduce((total, size) => total + size, 0);
  const count = Math.max(files.before.length, files.after.length);
  if (bytes > limits.maxBytes || count > limits.maxFiles) {
    const most = `${inMegabytes(limits.maxBytes)} in ${limits.maxFiles} files`;
    throw new RequestError("too_large", `The folder has ${inMegabytes(bytes)} in ${count} files, more than ${most}.`);
  }
  const clean = new Map<string, Buffer>();
  const changed = new Set<string>();
  for (const [blob, content] of await store.contents([...sizes.keys()])) {
    const redacted = redactBytes(content, redact);
    if (redacted !== content) changed.add(blob);
    clean.set(blob, redacted);
  }
  const both = [...files.before, ...files.after];
  const redacted = [...new Set(both.flatMap(({ path, blob }) => (changed.has(blob) ? [path] : [])))].sort();
  return inScratchRepository(async (repository) => {
    const input = importStream(files, clean);
    await git(repository, ["fast-import", "--quiet"], { input, settings: SETTINGS });
    const trees = await git(repository, ["rev-parse", ...SIDES.map((side) => `refs/heads/${side}^{tree}`)], {
      settings: SETTINGS,
    });
    const [before = "", after = ""] = trees.trim().split("\n");
    const args = ["bundle", "create", "--quiet", "-", ...SIDES.map((side) => `refs/heads/${side}`)];
    const maxBytes = limits.maxBytes + OVERHEAD_BYTES;
    const outcome = await runGit(repository, args, { maxBytes, settings: SETTINGS });
    if (outcome.exitCode !== 0) throw new GitFailed(args, outcome);
    return {
      before: { tree: before, files: files.before.length },
      after: { tree: after, files: files.after.length },
      redacted,
      bundle: outcome.stdout,
    };
  });
}

/** Writes the files of a bundle into an empty folder. */
export async function restoreFolderBundle(bundle: Uint8Array, side: BundleSide, folder: string): Promise<void> {
  await inScratchRepository(async (repository) => {
    const commits = await unbundle(repository, bundle);
    const place = { ...repository, folder };
    await git(place, ["read-tree", commits[side]], { settings: SETTINGS });
    await git(place, ["checkout-index", "--all", "--force"], { settings: SETTINGS });
  });
}

/** How the files after differ between two bundles, as a patch in git's format; empty if they do not. */
export async function diffFolderBundles(expected: Uint8Array, actual: Uint8Array): Promise<string> {
  return inScratchRepository(async (repository) => {
    const [from, to] = [await unbundle(repository, expected), await unbundle(repository, actual)];
    const plain = ["--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"];
    return git(repository, ["diff-tree", "-r", "--patch", ...plain, from.after, to.after], { settings: SETTINGS });
  });
}

interface Repository {
  folder: string;
  gitDir: string;
}

const SETTINGS = { "core.bare": "false", "core.autocrlf": "false", "pack.threads": "1" };

async function inScratchRepository<T>(work: (repository: Repository) => Promise<T>): Promise<T> {
  const gitDir = await mkdtemp(join(tmpdir(), "tandem-bundle-"));
  try {
    await git(gitDir, ["init", "--quiet", "--bare", "--template=", gitDir]);
    return await work({ folder: gitDir, gitDir });
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

async function unbundle(repository: Repository, bundle: Uint8Array): Promise<Record<BundleSide, string>> {
  const file = join(repository.gitDir, "folder.bundle");
  await writeFile(file, bundle);
  const listed = await git(repository, ["bundle", "unbundle", file], { settings: SETTINGS }).catch((cause: unknown) => {
    throw new RequestError("invalid_request", "The folder's git bundle is damaged.", {
      fix: "Restore the file, or export the session again.",
      cause,
    });
  });
  const commitOf = (side: BundleSide): string => {
    const commit = new RegExp(`^([0-9a-f]{40,64}) refs/heads/${side}$`, "m").exec(listed)?.[1];
    if (commit) return commit;
    throw new RequestError("invalid_request", `The folder's git bundle has no branch ${side}.`);
  };
  return { before: commitOf("before"), after: commitOf("after") };
}

type Listed = Awaited<ReturnType<CheckpointStore["files"]>>;

function importStream(files: Record<BundleSide, Listed>, contents: ReadonlyMap<string, Buffer>): Buffer {
  const parts: (string | Buffer)[] = [];
  const marks = new Map<string, number>();
  for (const [blob, content] of contents) {
    marks.set(blob, marks.size + 1);
    parts.push(`blob\nmark :${marks.size}\ndata ${content.length}\n`, content, "\n");
  }
  for (const side of SIDES) {
    parts.push(`commit refs/heads/${side}\n${COMMITTER}\ndata ${side.length}\n${side}\n`);
    if (side === "after") parts.push("from refs/heads/before\n");
    parts.push("deleteall\n");
    for (const { mode, blob, path } of files[side]) parts.push(`M ${mode} :${marks.get(blob)} ${quoted(path)}\n`);
    parts.push("\n");
  }
  return Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
}

const quoted = (path: string): string =>
  `"${path.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll("\n", String.raw`\n`)}"`;

function redactBytes(content: Buffer, redact: (text: string) => string): Buffer {
  if (content.includes(0)) return content;
  const text = content.toString("utf8");
  const clean = redact(text);
  return clean === text ? content : Buffer.from(clean);
}

const inMegabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
