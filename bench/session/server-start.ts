import { setTimeout as sleep } from "node:timers/promises";
import { processStats } from "../../apps/cli/src/testing/process-stats.ts";
import type { UpProcess } from "../../apps/cli/src/testing/session-machine.ts";
import { treeCpuSeconds, treePssMb } from "../runtime/process-tree.ts";
import type { Measurement } from "./measurement.ts";
import { timed, type Sample } from "./sample.ts";
import type { InstalledMachine } from "./stage.ts";

const SETTLE_MS = 5_000;

/** From the command to the first answered request. The caller ends the server. */
export async function startServer(machine: InstalledMachine, node?: string): Promise<Sample & { server: UpProcess }> {
  const { value, result: server } = await timed(async () => {
    const started = await machine.up(node);
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

export const serverStart: Measurement<"start" | "launcherStart" | "tree" | "alone" | "launcherTree"> = {
  rows: {
    start: {
      what: "server start to first answered request, Node 24",
      unit: "ms",
      target: { of: "bare", atMost: 1.2 },
    },
    launcherStart: { what: "… through the launcher of an older Node", unit: "ms", target: { of: "bare", atMost: 1.2 } },
    tree: { what: "idle server, process tree, PSS, Node 24", unit: "MiB", target: { of: "absolute", atMost: 90 } },
    alone: { what: "… its node process alone", unit: "MiB" },
    launcherTree: {
      what: "… process tree with the launcher of an older Node",
      unit: "MiB",
      target: { of: "absolute", atMost: 120 },
    },
  },
  async open(stage) {
    const machine = await stage.machine();
    const { oldNode } = stage.installed;
    if (oldNode === undefined) console.error("no Node 20 to 23 found in PATH: its rows are left out");
    return {
      async round() {
        const { server, ...start } = await startServer(machine);
        const { tree, alone } = await restingPss(server);
        await server.stop();
        if (oldNode === undefined) return { start, tree, alone };
        const { server: launched, ...launcherStart } = await startServer(machine, oldNode);
        const launcherTree = (await restingPss(launched)).tree;
        await launched.stop();
        return { start, tree, alone, launcherStart, launcherTree };
      },
      [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose](),
    };
  },
};
