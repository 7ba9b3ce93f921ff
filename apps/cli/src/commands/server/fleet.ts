import { setTimeout as sleep } from "node:timers/promises";
import { localActor, openProjectOrDefaults } from "@tandem/tandem/project";
import type { Fleet } from "@tandem/sessions";
import { openLocalFleet } from "@tandem/tandem/fleet";
import type { Project } from "@tandem/tandem/config";
import type { Command } from "commander";
import type { Invocation } from "../../invocation.ts";
import { renderDead, renderFleet } from "../../fleet/render-fleet.ts";
import { styleFor, write, writeResult } from "../../terminal.ts";
import { subcommandsOf, type Registration } from "../registration.ts";
import { serverFor } from "../../sessions/open-client.ts";
import { ServerConnection } from "../../sessions/server-connection.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  examples(
    sub("status", "Show workers, queues, held sessions, exhausted quotas and turns per minute.")
      .option("--watch", "refresh every two seconds until Ctrl-C")
      .addOption(json())
      .action(runner(status)),
    "tandem fleet status --watch",
    "tandem fleet status --json | jq '.queue[] | select(.served | not)'",
  );
  examples(
    sub("dead", "List runs that failed after their last attempt.").addOption(json()).action(runner(dead)),
    "tandem fleet dead",
  );
  examples(
    sub("requeue", "Queue a failed run again, with all attempts.")
      .argument("<key>", "id of its session or job, from `tandem fleet dead`")
      .addOption(json())
      .action(runner(requeue)),
    "tandem fleet requeue sesn_01JAB",
  );
  examples(
    sub("drain", "Drain a worker: it accepts no new work and hands over its sessions.")
      .argument("<worker>", "worker id or its beginning, from `tandem fleet status`")
      .addOption(json())
      .action(runner(drain)),
    "tandem fleet drain wrk_01JAB",
  );
}

const LOOK_EVERY_MS = 2_000;
/** Moves the cursor home and clears the screen with its scrollback. */
const CLEAR = "\u001b[H\u001b[2J\u001b[3J";

export async function status(invocation: Invocation, { watch = false }: { watch?: boolean }): Promise<void> {
  const { stdout, json, signal } = invocation;
  await using fleet = await openFleet(invocation, await openProjectOrDefaults(invocation));
  const style = styleFor(stdout);
  for (;;) {
    const now = await fleet.status();
    // With `--watch`, one JSON object per line.
    const text = json ? JSON.stringify(now, null, watch ? 0 : 2) : renderFleet(now, style).join("\n");
    await write(stdout, `${watch && !json && stdout.isTTY ? CLEAR : ""}${text}\n`);
    if (!watch) return;
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
  }
}

export async function dead(invocation: Invocation): Promise<void> {
  await using fleet = await openFleet(invocation, await openProjectOrDefaults(invocation));
  const letters = await fleet.dead();
  await writeResult(invocation, { data: letters }, renderDead(letters, styleFor(invocation.stdout)));
}

export async function requeue(invocation: Invocation, key: string): Promise<void> {
  await using fleet = await openFleet(invocation, await openProjectOrDefaults(invocation));
  await fleet.requeue(key, localActor());
  const { stdout, json } = invocation;
  await write(stdout, json ? `${JSON.stringify({ key, requeued: true })}\n` : `${key} is queued again.\n`);
}

export async function drain(invocation: Invocation, worker: string): Promise<void> {
  await using fleet = await openFleet(invocation, await openProjectOrDefaults(invocation));
  const drained = await fleet.drain(worker, localActor());
  const { stdout, json } = invocation;
  const { dim } = styleFor(stdout);
  const words = `${drained.id} is draining: it hands over its sessions.\n${dim("Watch it: tandem fleet status --watch")}`;
  await write(stdout, json ? `${JSON.stringify(drained)}\n` : `${words}\n`);
}

/** Reads the fleet from the running server, else from the database. */
async function openFleet(invocation: Invocation, project: Project): Promise<Fleet & AsyncDisposable> {
  const server = await serverFor(invocation, project);
  return server ? serverFleet(await ServerConnection.open(server)) : openLocalFleet(invocation, project);
}

function serverFleet(server: ServerConnection): Fleet & AsyncDisposable {
  const { api } = server;
  return {
    status: () => api.call("fleet.retrieve"),
    dead: async () => (await api.call("fleet.dead.list")).data,
    requeue: async (key) => void (await api.call("fleet.dead.requeue", { params: { key } })),
    drain: (worker) => api.call("fleet.workers.drain", { params: { worker_id: worker } }),
    [Symbol.asyncDispose]: async () => server[Symbol.dispose](),
  };
}
