import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { treeCpuSeconds } from "../runtime/process-tree.ts";
import { BenchClient } from "./bench-session.ts";
import type { Measurement } from "./measurement.ts";
import { timed, type Sample } from "./sample.ts";

/** Between sessions, as between those of a person: the server may prepare the next one. */
const SETTLE_MS = 2_500;

/** From the request that creates a session to the first message of its agent, and a second message in the same session. */
export const firstMessage: Measurement<"recent" | "unused" | "scratch" | "second"> = {
  rows: {
    recent: {
      what: "create → first `agent.message`, folder used in the last hour",
      unit: "ms",
      target: { of: "bare", atMost: 0.35 },
    },
    unused: { what: "… a folder never used", unit: "ms", target: { of: "bare", atMost: 1.1 } },
    scratch: { what: "… a scratch folder", unit: "ms", target: { of: "bare", atMost: 1.1 } },
    second: { what: "second message, process alive", unit: "ms", target: { of: "bare", atMost: 0.12 } },
  },
  async open(stage) {
    const machine = await stage.machine();
    const server = await machine.up();
    const client = new BenchClient(server);
    await client.agent();
    const scratch = await client.environment();
    let folders = 0;

    const inSession = async (environment: string): Promise<{ first: Sample; second: Sample }> => {
      await sleep(SETTLE_MS);
      const before = treeCpuSeconds(server.child.pid);
      const { value, result: session } = await timed(async () => {
        const created = await client.session(environment);
        await created.say("Hello.");
        await created.until("agent.message");
        return created;
      });
      await session.until("session.status_idle");
      const between = treeCpuSeconds(server.child.pid);
      const second = await timed(async () => {
        await session.say("And again.");
        await session.until("agent.message");
      });
      await session.until("session.status_idle");
      const after = treeCpuSeconds(server.child.pid);
      await session.end();
      return {
        first: { value, cpuSeconds: between - before },
        second: { value: second.value, cpuSeconds: after - between },
      };
    };

    return {
      async round() {
        folders += 1;
        const folder = join(machine.project, `folder-${folders}`);
        await mkdir(folder);
        await writeFile(join(folder, "notes.md"), "One line.\n");
        const recent = await inSession("env_local");
        const unused = await inSession(await client.environment(folder));
        return {
          recent: recent.first,
          unused: unused.first,
          scratch: (await inSession(scratch)).first,
          second: recent.second,
        };
      },
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        await machine[Symbol.asyncDispose]();
      },
    };
  },
};
