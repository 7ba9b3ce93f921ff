import { setImmediate } from "node:timers/promises";
import { type LoggedEvent, type SessionEvent, systemClock } from "@tandem/protocol";
import type { Lease } from "@tandem/storage";
import { expect, test } from "vitest";
import { Outbox } from "./outbox.ts";

const lease = { session: "sesn_1" } as Lease;
const event = { type: "session.status_running", id: "sevt_1", processed_at: null } as SessionEvent;

// A write that arrives while the outbox becomes empty must not wait for the next one.
test.each(Array.from({ length: 12 }, (_, step) => step))(
  "a write %i steps after another was acknowledged is written",
  async (step) => {
    const writes: Promise<LoggedEvent[]>[] = [];
    const logged: string[] = [];
    const answer = setImmediate();
    const outbox = new Outbox({
      log: {
        append: async (_lease, entries) => {
          if (logged.length === 0) void late();
          await answer;
          logged.push(...entries.map((entry) => entry.event.id));
          return [];
        },
        find: () => Promise.resolve(undefined),
        read: () => Promise.resolve([]),
      },
      lease,
      previews: { show: () => {}, settle: () => {} },
      clock: systemClock,
      onLost: () => {},
    });
    const late = async (): Promise<void> => {
      await answer;
      for (let count = 0; count < step; count += 1) await Promise.resolve();
      writes.push(outbox.write([{ thread: null, event }]));
    };
    writes.push(outbox.write([{ thread: null, event }]));
    await expect.poll(() => writes.length).toBe(2);
    await expect.poll(() => logged.length).toBe(2);
    await Promise.all(writes);
  },
);
