import { setTimeout as sleep } from "node:timers/promises";
import { treeCpuSeconds } from "../runtime/process-tree.ts";
import { BenchClient } from "./bench-session.ts";
import type { Measurement } from "./measurement.ts";
import { timed } from "./sample.ts";

const IDLE_MS = 500;
/** A released process has exited by then. */
const RELEASED_MS = 3_000;

/** A message to a session whose process was released after `sessions.idle`. */
export const resume: Measurement<"resume"> = {
  rows: { resume: { what: "resume after release", unit: "ms", target: { of: "bare", atMost: 1 } } },
  async open(stage) {
    const machine = await stage.machine(`sessions: { idle: ${IDLE_MS}ms }\n`);
    const server = await machine.up();
    const client = new BenchClient(server);
    return {
      async round() {
        const session = await client.session("env_local");
        await session.say("Hello.");
        await session.until("session.status_idle");
        await sleep(IDLE_MS + RELEASED_MS);
        const before = treeCpuSeconds(server.child.pid);
        const { value } = await timed(async () => {
          await session.say("And again.");
          await session.until("agent.message");
        });
        await session.until("session.status_idle");
        const resumed = { value, cpuSeconds: treeCpuSeconds(server.child.pid) - before };
        await session.end();
        return { resume: resumed };
      },
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        await machine[Symbol.asyncDispose]();
      },
    };
  },
};
