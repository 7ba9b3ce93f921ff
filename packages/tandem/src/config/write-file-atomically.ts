import { TandemError } from "@tandem/protocol";
import { open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";

const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/**
 * Replaces a file atomically. After a failure the old file is unchanged and no temporary file remains. Keeps the mode of an
 * existing file (`newMode` is for a new one) and follows symbolic links.
 */
export async function writeFileAtomically(file: string, text: string, newMode = 0o644): Promise<void> {
  const existing = await stat(file).catch(() => undefined);
  const target = existing ? await realpath(file) : file;
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.chmod(existing ? existing.mode & 0o777 : newMode & ~process.umask());
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => {});
    throw writeError(file, existing !== undefined, cause as NodeJS.ErrnoException);
  }
  await syncFolder(dirname(target));
}

function writeError(file: string, existed: boolean, cause: NodeJS.ErrnoException): TandemError {
  const kept = existed ? " The file was not changed." : " Nothing was written.";
  if (FULL.has(cause.code ?? "")) {
    return new TandemError("disk_full", `Cannot write ${file}: the disk is full.${kept}`, {
      fix: "Free some space and try again.",
      cause,
    });
  }
  const reason = cause.code === "EACCES" || cause.code === "EPERM" ? "permission denied" : `${cause.code}`;
  return new TandemError("write_failed", `Cannot write ${file}: ${reason}.${kept}`, {
    fix: `Check that the folder ${dirname(file)} is writable.`,
    cause,
  });
}

/** Syncs the folder, so that the rename survives a power cut. */
async function syncFolder(folder: string): Promise<void> {
  try {
    await using handle = await open(folder, "r");
    await handle.sync();
  } catch {
    // Windows and some network file systems do not support this. The new file is in place anyway.
  }
}
