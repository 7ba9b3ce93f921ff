import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { processesIn } from "./process-stats.ts";

/** A temporary folder for one test. Removes its content and ends the processes in it. */
export async function testFolder(): Promise<AsyncDisposable & { path: string; join: (...names: string[]) => string }> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "tandem-cli-")));
  return {
    path,
    join: (...names) => join(path, ...names),
    async [Symbol.asyncDispose]() {
      await endProcessesIn(path);
      await rm(path, { recursive: true, force: true });
    },
  };
}

/** A killed server leaves a Claude Code process that may still write until it notices. */
async function endProcessesIn(path: string): Promise<void> {
  if (!existsSync("/proc/self")) return sleep(1_000);
  const deadline = Date.now() + 60_000;
  for (let found = processesIn(path); found.length > 0; found = processesIn(path)) {
    if (Date.now() > deadline) throw new Error(`Processes ${found.join()} cannot be ended.`);
    for (const pid of found) tryKill(pid);
    await sleep(5);
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has exited.
  }
}
