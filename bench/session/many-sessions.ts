import { join } from "node:path";
import { openStore } from "@tandem/storage";
import { descendantsOf } from "../../apps/cli/src/testing/process-stats.ts";
import { pssMb, treePssMb } from "../runtime/process-tree.ts";
import { append, newSessions } from "../storage/load.ts";
import { realisticTurn } from "../storage/turn.ts";
import { BenchClient } from "./bench-session.ts";
import type { Measurement } from "./measurement.ts";
import { restingPss, startServer } from "./server-start.ts";
import type { InstalledMachine } from "./stage.ts";

const STORED = 1_000;
const LIVE = 5;

/** Writes idle sessions of one turn each, as a server would have written them. Returns their ids. */
export async function storeSessions(home: string, count: number, turns = 1): Promise<string[]> {
  await using store = await openStore(join(home, "tandem.db"));
  const ids: string[] = [];
  for (const lease of await newSessions(store, count)) {
    for (let turn = 0; turn < turns; turn += 1) await append(store, lease, realisticTurn(turn));
    await store.events.append(lease, [], { session: { status: "idle" } });
    await store.leases.release(lease);
    ids.push(lease.session);
  }
  return ids;
}

/** A server with many stored sessions beside one without any. */
export const storedSessions: Measurement<"emptyStart" | "start" | "emptyPss" | "pss"> = {
  rows: {
    emptyStart: { what: "start of an empty server", unit: "ms" },
    start: {
      what: `… with ${STORED.toLocaleString("en")} stored sessions`,
      unit: "ms",
      target: { of: "row", row: "emptyStart", atMost: 1.1 },
    },
    emptyPss: { what: "idle empty server, PSS", unit: "MiB" },
    pss: {
      what: `… with ${STORED.toLocaleString("en")} stored sessions`,
      unit: "MiB",
      target: { of: "row", row: "emptyPss", atMost: 1.1 },
    },
  },
  async open(stage) {
    const [empty, full] = [await stage.machine(), await stage.machine()];
    console.error(`stored: writing ${STORED} sessions …`);
    await storeSessions(full.home, STORED);
    const visit = async (machine: InstalledMachine) => {
      const { server, ...start } = await startServer(machine);
      const { tree: pss } = await restingPss(server);
      await server.stop();
      return { start, pss };
    };
    return {
      async round() {
        const [one, other] = [await visit(empty), await visit(full)];
        return { emptyStart: one.start, start: other.start, emptyPss: one.pss, pss: other.pss };
      },
      async [Symbol.asyncDispose]() {
        await empty[Symbol.asyncDispose]();
        await full[Symbol.asyncDispose]();
      },
    };
  },
};

/** A server after some sessions of one turn each, whose processes are alive. */
export const liveSessions: Measurement<"tree" | "server"> = {
  maxRounds: 1,
  rows: {
    tree: { what: `process tree after ${LIVE} sessions, PSS`, unit: "MiB" },
    server: { what: "… without Claude Code and its sandbox", unit: "MiB" },
  },
  async open(stage) {
    const machine = await stage.machine();
    return {
      async round() {
        await using server = await machine.up();
        const client = new BenchClient(server);
        for (let index = 0; index < LIVE; index += 1) {
          const session = await client.session("env_local");
          await session.say("Hello.");
          await session.until("session.status_idle");
          await session.leave();
        }
        const { alone } = await restingPss(server);
        const pid = server.child.pid!;
        const sample = { tree: { value: treePssMb(pid) }, server: alone };
        console.error(
          `live: ${descendantsOf(pid).length} processes below the server, ${Math.round(pssMb(descendantsOf(pid)))} MiB`,
        );
        await server.stop();
        return sample;
      },
      [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose](),
    };
  },
};
