import { expect, inject, test } from "vitest";
import { sessionMachine } from "../testing/session-machine.ts";
import { processesIn } from "../testing/process-stats.ts";
import { briefModel, SHORT_IDLE, soak, type Sample } from "./soak-run.ts";

const SESSIONS = 25;
/** After this many sessions all lazy imports are loaded. */
const SETTLED = 10;
/** Fewer than one handle per session after `SETTLED`. A connection may still be closing. */
const FEW = 4;

test.runIf(inject("soak") && process.platform === "linux")(
  `${SESSIONS} short sessions in a row leave no handle, thread or process behind (counted in /proc)`,
  async () => {
    await using machine = await sessionMachine(briefModel, SHORT_IDLE);
    await using server = await machine.upProcess();
    const samples: Sample[] = [];
    for await (const sample of soak(server, SESSIONS, [SETTLED, SESSIONS])) samples.push(sample);
    const [settled, last] = samples as [Sample, Sample];

    expect(machine.rehearsal.modelRequests).toHaveLength(SESSIONS);
    expect(settled.atRest, "each process was given back").toBe(0);
    expect(last.atRest, "each process was given back").toBe(0);
    expect(last.fds - settled.fds, `handles: ${settled.fds}, then ${last.fds}`).toBeLessThan(FEW);
    expect(last.threads - settled.threads, `threads: ${settled.threads}, then ${last.threads}`).toBeLessThan(FEW);

    await server.stop();
    expect(processesIn(machine.folder.path), "nothing outlives the server").toEqual([]);
  },
);
