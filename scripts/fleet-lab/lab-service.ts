import { spawn } from "node:child_process";
import { once } from "node:events";
import type { LabNetwork } from "./lab-network.ts";
import type { MachineName } from "./lab-machines.ts";
import { machineCommand } from "./machine-command.ts";

/** Disposing it ends it. */
export interface LabService extends AsyncDisposable {
  kill(): Promise<void>;
  /** After `kill`. */
  start(): Promise<void>;
}

/** Starts a program that is no part of Tandem in a machine, such as HAProxy. */
export async function startService(
  network: LabNetwork,
  machine: MachineName,
  command: readonly string[],
  cwd = "/",
): Promise<LabService> {
  const [program, ...args] = machineCommand(network, machine, { cwd }, command);
  const launch = async () => {
    const child = spawn(program, args, { stdio: "ignore", detached: true });
    await once(child, "spawn");
    return child;
  };
  let child = await launch();
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  return {
    kill,
    start: async () => {
      child = await launch();
    },
    [Symbol.asyncDispose]: kill,
  };
}
