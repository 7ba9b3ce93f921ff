import { setTimeout as sleep } from "node:timers/promises";
import { treeCpuSeconds } from "../runtime/process-tree.ts";
import type { UpProcess } from "../../apps/cli/src/testing/session-machine.ts";
import { BenchClient, BenchSession } from "./bench-session.ts";
import type { Measurement } from "./measurement.ts";
import { timed, type Sample } from "./sample.ts";
import type { InstalledMachine } from "./stage.ts";

const IDLE_MS = 500;
/** A released process has exited by then. */
const RELEASED_MS = 3_000;
/** A person reads and types for longer. */
const OPENED_MS = 2_000;

/** A message to a session whose process was released after `sessions.idle`: at once, and after a client has opened it. */
export const resume: Measurement<"resume" | "reopened" | "bareResume"> = {
  rows: {
    reopened: {
      what: "resume after release, the session opened two seconds before",
      unit: "ms",
      target: { of: "bare", atMost: 1 },
    },
    resume: { what: "… by a client that sends at once", unit: "ms", target: { of: "bare", atMost: 1 } },
    bareResume: { what: "… the same with `resume` of a bare call", unit: "ms" },
  },
  async open(stage) {
    const machine = await stage.machine(`sessions: { idle: ${IDLE_MS}ms }\n`);
    const patient = await stage.machine();
    const server = await machine.up();
    return {
      async round() {
        const session = await new BenchClient(server).session("env_local");
        await session.say("Hello.");
        await session.until("session.status_idle");
        await sleep(IDLE_MS + RELEASED_MS);
        const resumed = await again(session, server);
        return { resume: resumed, reopened: await reopen(patient), bareResume: await stage.bare.resume() };
      },
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        for (const each of [machine, patient]) await each[Symbol.asyncDispose]();
      },
    };
  },
};

/** The server is restarted, which releases the session as `sessions.idle` does, but keeps the reopened process. */
async function reopen(machine: InstalledMachine): Promise<Sample> {
  const first = await machine.up();
  const begun = await new BenchClient(first).session("env_local");
  await begun.say("Hello.");
  await begun.until("session.status_idle");
  await first[Symbol.asyncDispose]();
  await using server = await machine.up();
  const session = await BenchSession.follow(new BenchClient(server).api, begun.id);
  await sleep(OPENED_MS);
  return await again(session, server);
}

async function again(session: BenchSession, server: UpProcess): Promise<Sample> {
  const before = treeCpuSeconds(server.child.pid);
  const { value } = await timed(async () => {
    await session.say("And again.");
    await session.until("agent.message");
  });
  await session.until("session.status_idle");
  const cpuSeconds = treeCpuSeconds(server.child.pid) - before;
  await session.end();
  return { value, cpuSeconds };
}
