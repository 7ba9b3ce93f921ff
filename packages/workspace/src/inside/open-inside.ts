import type { BigIntStats } from "node:fs";
import { constants, open, readlink, realpath, stat, type FileHandle } from "node:fs/promises";
import { isAbsolute, join, normalize, sep } from "node:path";
import { RequestError } from "@tandem/protocol";
import { isInside } from "./is-inside.ts";

/** An open file or folder that was inside its root when opened. */
export interface Opened extends AsyncDisposable {
  readonly handle: FileHandle;
  /** The requested path relative to the root, with `/`; empty for the root itself. */
  readonly path: string;
  /** Path of the open file itself, even if its name was replaced (on Linux; otherwise the real path). */
  readonly place: string;
  /** Its real path when it was opened. */
  readonly real: string;
  readonly stats: BigIntStats;
}

/**
 * Opens a file or folder inside a root for reading. Links are followed if they stay inside. Opens first and checks
 * afterwards, to avoid a TOCTOU race.
 *
 * The root must be a real path, as returned by `AllowedRoots`, `createScratchFolder` and `createWorktree`. It is not
 * resolved again: a root replaced by a link in the meantime is rejected.
 */
export async function openInside(root: string, path: string, kind: "file" | "folder"): Promise<Opened> {
  return openAt(root, path, kind, true);
}

/** For paths found by a tree walk: rejects a link at the end, which saves a stat. */
export async function openFound(root: string, path: string, kind: "file" | "folder"): Promise<Opened> {
  return openAt(root, path, kind, false);
}

async function openAt(root: string, path: string, kind: "file" | "folder", isFollowed: boolean): Promise<Opened> {
  const inner = innerPath(path);
  const full = join(root, inner);
  try {
    // Opening some devices has side effects, and a link may lead to one: check before opening.
    if (isFollowed) refuseKind(await stat(full, { bigint: true }), kind, path);
    // Without O_NONBLOCK, a pipe swapped in now would block.
    const flags =
      constants.O_RDONLY |
      constants.O_NONBLOCK |
      constants.O_NOCTTY |
      (kind === "folder" ? constants.O_DIRECTORY : 0) |
      (isFollowed ? 0 : constants.O_NOFOLLOW);
    const handle = await open(full, flags);
    try {
      const stats = await handle.stat({ bigint: true });
      refuseKind(stats, kind, path);
      const { real, place } = await whereIs(handle, full, stats);
      if (!isInside(root, real)) throw outside(path);
      const name = inner.split(sep).join("/");
      return { handle, path: name, place, real, stats, [Symbol.asyncDispose]: () => handle.close() };
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    throw asRequestError(error, path);
  }
}

/** Normalises a relative path. Paths that lead out lexically never reach the disk. */
function innerPath(path: string): string {
  if (path.includes("\0")) throw new RequestError("invalid_request", "A path cannot have a NUL in it.");
  // After normalising, `..` can only be at the start.
  const steps = normalize(path)
    .split(sep)
    .filter((step) => step !== "" && step !== ".");
  if (isAbsolute(path) || steps[0] === "..") throw outside(path);
  return steps.join(sep);
}

async function whereIs(
  handle: FileHandle,
  full: string,
  opened: BigIntStats,
): Promise<{ real: string; place: string }> {
  if (process.platform === "linux") {
    const place = `/proc/self/fd/${handle.fd}`;
    const real = await readlink(place).catch(() => undefined);
    if (real !== undefined) return { real, place };
  }
  // Without /proc: the name must still lead to the opened file.
  const real = await realpath(full);
  const named = await stat(real, { bigint: true });
  if (named.dev !== opened.dev || named.ino !== opened.ino) {
    throw new RequestError("conflict", `${full} was replaced while it was opened.`);
  }
  return { real, place: real };
}

function refuseKind(stats: BigIntStats, kind: "file" | "folder", path: string): void {
  if (kind === "file" ? stats.isFile() : stats.isDirectory()) return;
  if (stats.isFile() || stats.isDirectory()) {
    throw new RequestError("invalid_request", `${JSON.stringify(path)} is not a ${kind}.`);
  }
  throw new RequestError("forbidden", `${JSON.stringify(path)} is neither a file nor a folder, and is not opened.`);
}

const outside = (path: string): RequestError =>
  new RequestError("forbidden", `${JSON.stringify(path)} leads out of the session's folder.`);

function asRequestError(error: unknown, path: string): unknown {
  if (error instanceof RequestError || !(error instanceof Error) || !("code" in error)) return error;
  const named = JSON.stringify(path);
  switch (error.code) {
    case "ENOENT":
    case "ENOTDIR":
      return new RequestError("not_found", `There is no ${named} in the session's folder.`, { cause: error });
    case "EACCES":
    case "EPERM":
    case "ELOOP":
    case "ENXIO":
      return new RequestError("forbidden", `${named} cannot be opened (${error.code}).`, { cause: error });
    case "ENAMETOOLONG":
      return new RequestError("invalid_request", "The path is too long.", { cause: error });
    default:
      return error;
  }
}
