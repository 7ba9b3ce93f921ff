import { spawn } from "node:child_process";
import { once } from "node:events";
import type { LabNetwork } from "./lab-network.ts";
import type { MachineName } from "./lab-machines.ts";
import { machineCommand } from "./machine-command.ts";

const LAST_WORDS = 4_000;

/** Starts a program that is no part of Tandem in a machine, such as HAProxy. Disposing it ends it. */
export async function startService(
  network: LabNetwork,
  machine: MachineName,
  command: readonly string[],
  cwd = "/",
): Promise<AsyncDisposable & { words: () => string }> {
  const [program, ...args] = machineCommand(network, machine, { cwd }, command);
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  await once(child, "spawn");
  let words = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => (words = `${words}${chunk}`.slice(-LAST_WORDS)));
  }
  return {
    words: () => words,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}
