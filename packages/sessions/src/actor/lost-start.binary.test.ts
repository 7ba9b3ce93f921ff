import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openStore, type Store } from "@tandem/storage";
import { always, toolUse } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { createEngine } from "../create-engine.ts";
import { ALLOW_ALL, handle, setEngineStage, stageSettings, the } from "../testing/engine-stage.ts";

test("a session that is lost while its process waits to be started gets no process any more", async () => {
  await using stage = await setEngineStage();
  const never = () => new Promise<never>(() => undefined);
  const mark = join(stage.folder, "begun");
  stage.rehearsal.use([toolUse("Bash", { command: `touch ${mark}; sleep 100` }), always(never)]);
  const { process: server, session } = await stage.spawn(ALLOW_ALL, "Do it.");
  await expect.poll(() => existsSync(mark)).toBe(true);
  server.kill("SIGKILL");
  await once(server, "exit");

  // The first worker resumes the turn. Its read of the open turn, which comes right before the process, waits for the database.
  const kept = await openStore(join(stage.root, "tandem.db"));
  const reading = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  let isLost = false;
  const store: Store = {
    ...kept,
    events: {
      ...kept.events,
      read: async (...query) => {
        if (new Error().stack?.includes("conversation-holder")) {
          reading.resolve();
          await answer.promise;
        }
        return kept.events.read(...query);
      },
    },
    leases: {
      ...kept.leases,
      take: async (...query) => (isLost ? undefined : kept.leases.take(...query)),
      renew: async (leases, ttl) => (isLost ? [...leases] : kept.leases.renew(leases, ttl)),
    },
  };
  const settings = await stageSettings(stage.root, stage.rehearsal.url);
  const lines: string[] = [];
  let asked = 0;
  let opened = 0;
  const first = await createEngine(store, {
    ...settings,
    holder: "cut off",
    recovery: "resume",
    leaseTtl: 1_000,
    log: { warn: (_: unknown, message: string) => void lines.push(message) },
    credential: () => {
      asked += 1;
      return settings.credential();
    },
    openConversation: (...parts) => {
      opened += 1;
      return settings.openConversation(...parts);
    },
  });
  await first.start();
  await reading.promise;
  isLost = true;
  await expect.poll(() => lines).toContain("a session was lost");
  const second = await stage.open({ recovery: "resume", holder: "next" });
  the(await stage.until(session, ({ event }) => event.type === "tandem.recovered"), "tandem.recovered");
  await expect.poll(() => stage.processes()).toHaveLength(1);
  const before = asked;
  answer.resolve();
  await expect.poll(() => asked).toBeGreaterThan(before);
  await handle(first, store).stop();
  expect(opened).toBe(0);
  expect(await stage.processes()).toHaveLength(1);
  await handle(second.engine, second.store).stop();
});
