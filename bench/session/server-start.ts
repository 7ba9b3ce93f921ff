import { setTimeout as sleep } from "node:timers/promises";
import { processStats } from "../../apps/cli/src/testing/process-stats.ts";
import type { UpProcess } from "../../apps/cli/src/testing/session-machine.ts";
import { treeCpuSeconds, treePssMb } from "../runtime/process-tree.ts";
import type { Measurement } from "./measurement.ts";
import { timed, type Sample } from "./sample.ts";
import type { InstalledMachine, Starter } from "./stage.ts";

const SETTLE_MS = 5_000;

/** From the command to the first answered request. The caller ends the server. */
export async function startServer(machine: InstalledMachine, by?: Starter): Promise<Sample & { server: UpProcess }> {
  const { value, result: server } = await timed(async () => {
    const started = await machine.up(by);
    const headers = { authorization: `Bearer ${started.token}` };
    const response = await fetch(`${started.url}/v1/sessions?limit=1`, { headers });
    if (!response.ok) throw new Error(await response.text());
    await response.arrayBuffer();
    return started;
  });
  return { value, cpuSeconds: treeCpuSeconds(server.child.pid), server };
}

/** The memory of a server that has answered one request and rests. */
export async function restingPss(server: UpProcess): Promise<{ tree: Sample; alone: Sample }> {
  await sleep(SETTLE_MS);
  const pid = server.child.pid!;
  return { tree: { value: treePssMb(pid) }, alone: { value: processStats(pid).pssMb } };
}

export const serverStart: Measurement<"start" | "nodeStart" | "tree" | "nodeTree" | "alone"> = {
  rows: {
    start: {
      what: "server start to first answered request, as installed",
      unit: "ms",
      target: { of: "bare", atMost: 1.2 },
    },
    nodeStart: { what: "… by Node 24, without the launcher", unit: "ms", target: { of: "bare", atMost: 1.2 } },
    tree: {
      what: "idle server, process tree, PSS, as installed",
      unit: "MiB",
      target: { of: "absolute", atMost: 120 },
    },
    nodeTree: {
      what: "… by Node 24, without the launcher",
      unit: "MiB",
      target: { of: "absolute", atMost: 90 },
    },
    alone: { what: "… its node process alone", unit: "MiB" },
  },
  async open(stage) {
    const machine = await stage.machine();
    return {
      async round() {
        const { server, ...start } = await startServer(machine);
        const { tree } = await restingPss(server);
        await server.stop();
        const { server: direct, ...nodeStart } = await startServer(machine, "node");
        const { tree: nodeTree, alone } = await restingPss(direct);
        await direct.stop();
        return { start, nodeStart, tree, nodeTree, alone };
      },
      [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose](),
    };
  },
};
