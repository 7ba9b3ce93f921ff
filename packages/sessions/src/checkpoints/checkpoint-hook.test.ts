import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { newId, type EventId, type LoggedEvent, systemClock } from "@tandem/protocol";
import type { EventLog } from "@tandem/storage";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { CheckpointStores } from "@tandem/workspace";
import { beforeEach, expect, test } from "vitest";
import type { TurnControl } from "../hooks/turn-hook.ts";
import { CheckpointHook } from "./checkpoint-hook.ts";

const LIMITS = { maxFiles: 1_000, maxFileBytes: 1024 * 1024, maxTotalBytes: 1024 ** 3, keepMs: 3_600_000 };

let root: string;
beforeEach(async () => {
  root = await scratchFolder();
  await mkdir(join(root, "work"));
});

/** The hook of a session whose log has `later` events after the message that began its turn. */
function hookAfter(later: readonly string[]): { hook: CheckpointHook; opening: EventId } {
  const id = newId("session");
  const opening = newId("event");
  const log = {
    find: async () => ({ seq: 1 }) as LoggedEvent,
    read: async (_session: string, { types }: { types?: readonly string[] }) =>
      later.filter((type) => types?.includes(type)).map((type) => ({ event: { type } }) as LoggedEvent),
  } as unknown as EventLog;
  const control = { row: () => ({ id, folder: join(root, "work") }) } as unknown as TurnControl;
  const checkpointStores = new CheckpointStores(join(root, "checkpoints"), LIMITS);
  return { hook: new CheckpointHook(control, checkpointStores, { clock: systemClock, events: log }), opening };
}

test("a turn that is resumed before its first checkpoint was stored gets one", async () => {
  const { hook, opening } = hookAfter(["session.status_running"]);
  const [event] = await hook.prepare({ message: null, opening, startedAt: 0 });
  expect(event).toMatchObject({ type: "tandem.checkpoint", when: "before", message_id: opening });
});

test("a resumed turn gets no second first checkpoint, and none once a tool was called", async () => {
  for (const type of ["tandem.checkpoint", "agent.tool_use"]) {
    const { hook, opening } = hookAfter([type]);
    expect(await hook.prepare({ message: null, opening, startedAt: 0 })).toEqual([]);
  }
});
