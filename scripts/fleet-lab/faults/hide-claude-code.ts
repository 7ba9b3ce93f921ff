import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findExecutable } from "@tandem/claude-code/processes";

const run = promisify(execFile);

/** Hides Claude Code from the machine of a process, in whose mount namespace alone an empty file lies over it. */
export async function hideClaudeCode(pid: number): Promise<AsyncDisposable> {
  const path = findExecutable();
  const enter = ["-t", String(pid), "-m", "--"];
  await run("/usr/bin/nsenter", [...enter, "mount", "--bind", "/dev/null", path]);
  return {
    [Symbol.asyncDispose]: async () => {
      // The process may have been restarted: then its new namespace has no such mount.
      await run("/usr/bin/nsenter", [...enter, "umount", "-l", path]).catch(() => undefined);
    },
  };
}
