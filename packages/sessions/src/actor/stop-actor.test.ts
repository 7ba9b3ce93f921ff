import { systemClock } from "@tandem/protocol";
import { expect, test } from "vitest";
import { stopActor } from "./stop-actor.ts";

/** An actor that ends once it is stopped or lost. */
function actor(stop: () => Promise<void>) {
  const ended = Promise.withResolvers<void>();
  const made = {
    ended: ended.promise,
    losses: [] as unknown[],
    idle: async () => undefined,
    stop: () => stop().then(ended.resolve),
    handOver: () => stop().then(ended.resolve),
    lost(error?: unknown) {
      made.losses.push(error);
      ended.resolve();
    },
  };
  return made;
}

const refused = new Error("The lease is lost.");

test.each([true, false])("a session that cannot be stopped is given up (hands over: %s)", async (handsOver) => {
  const how = { clock: systemClock, handsOver, withinMs: 1_000 };
  const failing = actor(() => Promise.reject(refused));
  await expect(stopActor(failing, how)).resolves.toBeUndefined();
  expect(failing.losses).toEqual([refused]);
  const sound = actor(async () => undefined);
  await stopActor(sound, how);
  expect(sound.losses).toEqual([]);
});
