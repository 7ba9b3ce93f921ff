import { setTimeout as sleep } from "node:timers/promises";
import { treeCpuSeconds } from "../runtime/process-tree.ts";
import { BenchClient, type BenchSession } from "./bench-session.ts";
import type { Measurement } from "./measurement.ts";

const SESSIONS = 10;
const SECONDS = 10;

/** Turns of several sessions at once, with a model that takes a second to its first byte. */
export const turns: Measurement<"turns"> = {
  rows: {
    turns: {
      what: `turns/s at 1 s of model latency, one process, ${SESSIONS} sessions`,
      unit: "turns/s",
      target: { of: "absolute", atLeast: 6 },
    },
  },
  async open(stage) {
    const machine = await stage.machine(`sessions: { maxProcesses: ${SESSIONS} }\n`);
    const server = await machine.up();
    const client = new BenchClient(server);
    await client.agent();
    const sessions: BenchSession[] = [];
    for (let index = 0; index < SESSIONS; index += 1) {
      const session = await client.session("env_local");
      await session.say("Hello.");
      await session.until("session.status_idle");
      sessions.push(session);
    }
    return {
      async round() {
        let done = 0;
        const over = new AbortController();
        const before = treeCpuSeconds(server.child.pid);
        const from = performance.now();
        const talks = sessions.map(async (session) => {
          while (!over.signal.aborted) {
            await session.say("Wait.");
            await session.until("session.status_idle");
            if (!over.signal.aborted) done += 1;
          }
        });
        await Promise.race([sleep(SECONDS * 1_000), Promise.all(talks)]);
        over.abort();
        const value = (done / (performance.now() - from)) * 1_000;
        const cpuSeconds = (treeCpuSeconds(server.child.pid) - before) / done;
        await Promise.all(talks);
        return { turns: { value, cpuSeconds } };
      },
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        await machine[Symbol.asyncDispose]();
      },
    };
  },
};
