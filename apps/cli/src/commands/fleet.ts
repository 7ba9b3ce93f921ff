import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "../context.ts";
import { openFleet } from "../fleet/open-fleet.ts";
import { renderDead, renderFleet } from "../fleet/render-fleet.ts";
import { localActor, openProjectOrDefaults } from "@tandem/tandem/project";
import { styleFor, write } from "../terminal.ts";

const LOOK_EVERY_MS = 2_000;
/** To the top left, and away with all that is there. */
const CLEAR = "\u001b[H\u001b[2J\u001b[3J";

export async function status(context: Context, { watch = false }: { watch?: boolean }): Promise<void> {
  const { stdout, json, signal } = context;
  await using fleet = await openFleet(context, await openProjectOrDefaults(context));
  const style = styleFor(stdout);
  for (;;) {
    const now = await fleet.status();
    // One object to a line where they follow on each other.
    const text = json ? JSON.stringify(now, null, watch ? 0 : 2) : renderFleet(now, style).join("\n");
    await write(stdout, `${watch && !json && stdout.isTTY ? CLEAR : ""}${text}\n`);
    if (!watch) return;
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
  }
}

export async function dead(context: Context): Promise<void> {
  await using fleet = await openFleet(context, await openProjectOrDefaults(context));
  const { stdout, json } = context;
  const letters = await fleet.dead();
  const text = json ? JSON.stringify({ data: letters }, null, 2) : renderDead(letters, styleFor(stdout)).join("\n");
  await write(stdout, `${text}\n`);
}

export async function requeue(context: Context, key: string): Promise<void> {
  await using fleet = await openFleet(context, await openProjectOrDefaults(context));
  await fleet.requeue(key, localActor());
  const { stdout, json } = context;
  await write(stdout, json ? `${JSON.stringify({ key, requeued: true })}\n` : `${key} is sent again.\n`);
}

export async function drain(context: Context, worker: string): Promise<void> {
  await using fleet = await openFleet(context, await openProjectOrDefaults(context));
  const drained = await fleet.drain(worker, localActor());
  const { stdout, json } = context;
  const { dim } = styleFor(stdout);
  const words = `${drained.id} takes nothing more, and hands over what it has.\n${dim("See it go: tandem fleet status --watch")}`;
  await write(stdout, json ? `${JSON.stringify(drained)}\n` : `${words}\n`);
}
