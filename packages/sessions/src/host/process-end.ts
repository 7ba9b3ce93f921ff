import type { ChildProcess } from "node:child_process";

/** Output can still arrive after a process has exited. */
const LAST_WORDS_MS = 500;

/**
 * Resolves with the exit code of a process group's leader; the rest of the group is ended with it. Does not wait for all
 * holders of its pipes: a process that left the group (`setsid`) could hold them forever.
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
    // The whole group has ended.
  }
}
