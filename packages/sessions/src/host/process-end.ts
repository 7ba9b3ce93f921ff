import type { ChildProcess } from "node:child_process";

/** What was written last is still on its way when a process has ended. */
const LAST_WORDS_MS = 500;

/**
 * The exit code of a process that leads a group, whose rest ends with it. Not the end of all who hold its pipes: one that
 * has left the group, as `setsid` does, would hold them for as long as it likes.
 */
export function processEnd(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => {
      killGroup(child.pid);
      const end = (): void => {
        clearTimeout(late);
        child.stdin?.destroy();
        child.stdout?.destroy();
        child.stderr?.destroy();
        resolve(code);
      };
      const late = setTimeout(end, LAST_WORDS_MS);
      child.once("close", end);
    });
  });
}

export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended.
  }
}
