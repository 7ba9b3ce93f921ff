import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cpuSeconds, treeCpuSeconds } from "../runtime/process-tree.ts";
import { BenchClient, BenchSession } from "./bench-session.ts";
import type { Growth } from "./growth.ts";
import { timed } from "./sample.ts";

const FILES_PER_FOLDER = 100;
const TRIES = 2;

/** Clients that follow one session with previews, while its agent talks at length. */
export const growthOfSubscribers: Growth = {
  of: "subscribers",
  sizes: [1, 10, 100],
  async measure(stage, size) {
    await using machine = await stage.machine();
    await using server = await machine.up();
    const client = new BenchClient(server);
    const session = await client.session("env_local");
    await session.say("Hello.");
    await session.until("session.status_idle");
    const others: BenchSession[] = [];
    for (let index = 1; index < size; index += 1) others.push(await BenchSession.follow(client.api, session.id, true));
    const before = cpuSeconds(server.child.pid!);
    const { value } = await timed(async () => {
      await session.say("Talk.");
      await Promise.all([session, ...others].map((each) => each.until("session.status_idle")));
    });
    const cpu = (cpuSeconds(server.child.pid!) - before) * 1_000;
    await Promise.all(others.map((each) => each.leave()));
    await session.end();
    return { "server's CPU of a turn, ms": cpu, "until the last one has the whole turn, ms": value };
  },
};

/** The first and second message in a folder of so many files, of which checkpoints are taken. */
export const growthOfFolders: Growth = {
  of: "files in the folder",
  sizes: [100, 1_000, 10_000],
  async measure(stage, size) {
    await using machine = await stage.machine();
    await using server = await machine.up();
    const client = new BenchClient(server);
    await client.agent();
    const found: Record<string, number>[] = [];
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const folder = join(machine.project, `files-${attempt}`);
      await fill(folder, size);
      const environment = await client.environment(folder);
      const before = treeCpuSeconds(server.child.pid);
      const first = await timed(async () => {
        const created = await client.session(environment);
        await created.say("Hello.");
        await created.until("agent.message");
        return created;
      });
      const session = first.result;
      await session.until("session.status_idle");
      const second = await timed(async () => {
        await session.say("And again.");
        await session.until("agent.message");
      });
      await session.until("session.status_idle");
      const cpu = (treeCpuSeconds(server.child.pid) - before) * 1_000;
      await session.end();
      found.push({ "first message, ms": first.value, "second message, ms": second.value, "CPU of both, ms": cpu });
    }
    const names = Object.keys(found[0]!);
    return Object.fromEntries(names.map((name) => [name, Math.min(...found.map((costs) => costs[name]!))]));
  },
};

async function fill(folder: string, files: number): Promise<void> {
  for (let index = 0; index < files; index += 1) {
    const inner = join(folder, `d${Math.floor(index / FILES_PER_FOLDER)}`);
    if (index % FILES_PER_FOLDER === 0) await mkdir(inner, { recursive: true });
    await writeFile(join(inner, `f${index}.ts`), `export const x${index} = ${index};\n`.repeat(40));
  }
}
