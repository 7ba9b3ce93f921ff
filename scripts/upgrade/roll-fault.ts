import { setTimeout as sleep } from "node:timers/promises";
import type { ExtraFault } from "@tandem/crash-test";

/** For some turns on each mixture of builds. */
const BETWEEN_MS = 4_000;
/** Clients that leave calls without an answer during the whole roll. */
const HELD = 4;

/** Replaces the processes one after the other by those of this build, then by those that were there before. */
export const rollFault = (tandem: string): ExtraFault => ({
  kind: "roll",
  description: "every process of a fleet is stopped and replaced by another build, and back",
  sparesProcesses: true,
  async inject(_, system) {
    // The order of docs/guides/fleet.md: servers first, and on the way back workers first.
    const forth = [...system.servers, ...system.workers];
    const steps = [
      ...forth.map((process) => ({ process, build: tandem })),
      ...forth.toReversed().map((process) => ({ process, build: process.plan.command[1]! })),
    ];
    system.heldClients = HELD;
    for (const { process, build } of steps) {
      await sleep(BETWEEN_MS);
      const code = await process.stop();
      if (code !== 0) throw new Error(`${process.name} was stopped and ended with ${code}: ${process.words}`);
      const [node, , ...args] = process.command;
      process.command = [node, build, ...args];
      if (!(await system.restart(process))) throw new Error(`${process.name} did not start with ${build}.`);
    }
    await sleep(BETWEEN_MS);
    system.heldClients = 0;
    return true;
  },
});
