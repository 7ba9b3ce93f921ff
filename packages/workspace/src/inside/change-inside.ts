import { createHash, randomUUID } from "node:crypto";
import { constants, cp, link, lstat, mkdir, open, rename, rm, rmdir, unlink, type FileHandle } from "node:fs/promises";
import { dirname, join, posix, relative, sep } from "node:path";
import { RequestError } from "@tandem/protocol";
import { giveToFolderOwner } from "../give-tree.ts";
import { isInside } from "./is-inside.ts";
import { openFound, openInside, type Opened } from "./open-inside.ts";
import { removeTree } from "../remove-tree.ts";
import { asWriteError, makeFolders } from "./write-inside.ts";

/** Changes of files inside a root. Like `openInside`, they never leave it by `..` or a link. */
export interface ChangeGuard {
  /** Throws for a path, relative to the root and with its links resolved, that must not be changed. */
  refuse?: (path: string) => void;
}

interface WritePrecondition {
  /** The SHA-256 of the current content; null if there must be no file. Without it, the file is replaced. */
  expected?: string | null;
}

/** Writes a file atomically, with its parent folders. A file whose SHA-256 is `is` already stays. Returns the SHA-256 of the old content, null for a new file. */
export async function replaceInside(
  root: string,
  path: string,
  content: Uint8Array,
  { refuse, expected, is }: ChangeGuard & WritePrecondition & { is?: string } = {},
): Promise<{ before: string | null }> {
  return at(root, path, { refuse, makes: true }, async (place) => {
    const found = await hashAt(root, path, place);
    // A repeated request: the first one has written it.
    if (is !== undefined && found?.sha256 === is) return { before: is };
    check(path, expected, found?.sha256 ?? null);
    const draft = join(dirname(place), `.tandem-${randomUUID()}`);
    try {
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
      await using handle = await open(draft, flags, 0o644);
      await handle.writeFile(content);
      await giveToFolderOwner(draft, handle);
      if (found) await handle.chmod(found.mode);
      await handle.sync();
      // A link fails if another file has appeared meanwhile; a rename would replace it.
      if (expected === null) await link(draft, place);
      else await rename(draft, place);
    } finally {
      await rm(draft, { force: true });
    }
    return { before: found?.sha256 ?? null };
  });
}

/** Moves a file or folder. Overwrites nothing. */
export async function moveInside(root: string, from: string, to: string, guard: ChangeGuard = {}): Promise<void> {
  await at(root, from, guard, async (source) => {
    await lstat(source);
    await at(root, to, { ...guard, makes: true }, async (target) => {
      if (await lstat(target).catch(() => undefined)) {
        throw new RequestError("conflict", `${JSON.stringify(to)} is there already.`);
      }
      await rename(source, target).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EINVAL") throw error;
        throw new RequestError("invalid_request", `${JSON.stringify(from)} cannot be moved into itself.`);
      });
    });
  });
}

/** Moves a folder from outside a root to a path inside. Overwrites nothing, and a part of the folder never appears there. */
export async function bringInside(root: string, source: string, to: string): Promise<void> {
  await at(root, to, { makes: true }, async (target) => {
    if (await lstat(target).catch(() => undefined)) {
      throw new RequestError("conflict", `${JSON.stringify(to)} is there already.`);
    }
    await rename(source, target).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "EXDEV") throw error;
      const draft = join(dirname(target), `.tandem-${randomUUID()}`);
      try {
        await cp(source, draft, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
        await rename(draft, target);
      } finally {
        await removeTree(draft);
      }
    });
    await giveToFolderOwner(target);
  });
}

/** Removes a file, a link itself, or a folder: an empty one, or with its content if `recursive`. */
export async function removeInside(
  root: string,
  path: string,
  { refuse, expected, recursive = false }: ChangeGuard & { expected?: string; recursive?: boolean } = {},
): Promise<void> {
  await at(root, path, { refuse }, async (place) => {
    const stats = await lstat(place);
    if (expected !== undefined) check(path, expected, (await hashAt(root, path, place))?.sha256 ?? null);
    if (!stats.isDirectory()) await unlink(place);
    else if (recursive) await removeTree(place);
    else await rmdir(place);
  });
}

/** Creates a folder with its parents. One that exists is left as it is. */
export async function makeFolderInside(root: string, path: string, guard: ChangeGuard = {}): Promise<void> {
  await at(root, path, { ...guard, makes: true }, async (place) => {
    await mkdir(place).then(
      () => giveToFolderOwner(place),
      async (error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST" || !(await lstat(place)).isDirectory()) throw error;
      },
    );
  });
}

/** The SHA-256 of a file inside a root; undefined if there is none. Follows no link at the end of the path. */
export async function hashInside(root: string, path: string): Promise<string | undefined> {
  try {
    await using file = await openFound(root, path, "file");
    return await hashOf(file.handle);
  } catch (error) {
    if (error instanceof RequestError && error.code === "not_found") return undefined;
    throw error;
  }
}

/** Calls `work` with a path in the parent folder, which stays open, so that it cannot be replaced by a link in between. */
async function at<T>(
  root: string,
  path: string,
  { refuse, makes }: ChangeGuard & { makes?: true },
  work: (place: string) => Promise<T>,
): Promise<T> {
  const { folder: inner, name } = split(root, path);
  try {
    if (makes) await makeFolders(root, join(root, inner), path);
    await using folder: Opened = await openInside(root, inner, "folder");
    refuse?.([...relative(root, folder.real).split(sep), name].filter((step) => step !== "").join("/"));
    return await work(join(folder.place, name));
  } catch (error) {
    throw asWriteError(error, path);
  }
}

function split(root: string, path: string): { folder: string; name: string } {
  if (path.includes("\0")) throw new RequestError("invalid_request", "A path cannot have a NUL in it.");
  const full = join(root, path);
  if (path.startsWith("/") || path.split("/").includes("..") || !isInside(root, full)) {
    throw new RequestError("forbidden", `${JSON.stringify(path)} leads out of the session's folder.`);
  }
  const clean = posix.normalize(path).replace(/\/$/, "");
  if (clean === "." || clean === "") throw new RequestError("invalid_request", "The folder itself cannot be changed.");
  const folder = posix.dirname(clean);
  return { folder: folder === "." ? "" : folder, name: posix.basename(clean) };
}

async function hashAt(
  root: string,
  path: string,
  place: string,
): Promise<{ sha256: string; mode: number } | undefined> {
  const stats = await lstat(place).catch(() => undefined);
  if (!stats) return undefined;
  if (stats.isSymbolicLink()) {
    throw new RequestError("forbidden", `${JSON.stringify(path)} is a link.`, { fix: "Name the file it leads to." });
  }
  if (!stats.isFile()) throw new RequestError("invalid_request", `${JSON.stringify(path)} is not a file.`);
  const sha256 = await hashInside(root, path);
  return sha256 === undefined ? undefined : { sha256, mode: stats.mode & 0o777 };
}

async function hashOf(handle: FileHandle): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of handle.createReadStream({ autoClose: false })) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

function check(path: string, expected: string | null | undefined, found: string | null): void {
  if (expected === undefined || expected === found) return;
  const now = found === null ? "there is no such file" : `its SHA-256 is ${found}`;
  throw new RequestError("conflict", `${JSON.stringify(path)} is not as expected: ${now}.`, {
    fix: "Read the file again, and repeat the change with its current sha256.",
    detail: "file_precondition_failed",
  });
}
