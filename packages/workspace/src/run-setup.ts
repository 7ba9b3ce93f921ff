import { spawn } from "node:child_process";
import { RequestError } from "@tandem/protocol";

/** Enough to diagnose a failure. */
const OUTPUT_TAIL = 64 * 1_024;
const SHOWN_LINES = 15;

/** Running setups, killed on a normal exit. */
const running = new Set<number>();
process.on("exit", () => {
  for (const pid of running) killGroup(pid);
});

export interface Setup {
  /** Run by a shell. */
  command: string;
  folder: string;
  /** The complete environment; nothing is inherited. */
  variables: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Records the process, so that a later start can kill an orphan. */
  ledger?: { add(pid: number): void; remove(pid: number): void };
}

/** Runs a folder's setup command. Returns the end of its output; rejects if it fails. */
export async function runSetup({ command, folder, variables, timeoutMs, ledger }: Setup): Promise<string> {
  const child = spawn("/bin/sh", ["-c", command], {
    cwd: folder,
    env: variables,
    stdio: ["ignore", "pipe", "pipe"],
    // Own process group, so that its children can be killed.
    detached: true,
  });
  const { pid } = child;
  let output = "";
  const add = (chunk: string): void => void (output = (output + chunk).slice(-OUTPUT_TAIL));
  child.stdout.setEncoding("utf8").on("data", add);
  child.stderr.setEncoding("utf8").on("data", add);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    killGroup(pid);
  }, timeoutMs);
  if (pid !== undefined) {
    running.add(pid);
    ledger?.add(pid);
  }
  try {
    const ended = await new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
      child.once("error", reject);
      // Wait for its exit, not for the close of its output: leftover children may hold it, and are killed next.
      child.once("exit", (code, signal) => resolve({ code, signal }));
    });
    killGroup(pid);
    await closed(child);
    if (ended.code === 0 && !timedOut) return output;
    const how = timedOut
      ? `took longer than ${timeoutMs / 1_000} s`
      : `ended with ${ended.code ?? ended.signal ?? "an error"}`;
    const lines = output.trimEnd().split("\n").slice(-SHOWN_LINES).join("\n");
    throw new RequestError("conflict", `The setup of the worktree ${how}: ${command}\n${lines}`, {
      fix: "Fix worktrees.setup in tandem.yaml, or the program that it calls; it runs in a fresh worktree.",
    });
  } finally {
    clearTimeout(timer);
    if (pid !== undefined) {
      running.delete(pid);
      ledger?.remove(pid);
    }
  }
}

/** Output written last can arrive after the exit. */
function closed(child: ReturnType<typeof spawn>): Promise<void> {
  if (child.stdout?.closed && child.stderr?.closed) return Promise.resolve();
  return new Promise((resolve) => {
    const late = setTimeout(resolve, 1_000);
    child.once("close", () => {
      clearTimeout(late);
      resolve();
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All processes have exited already.
  }
}
