import type { SessionEventBody } from "@tandem/protocol";
import { expect, test } from "vitest";
import { TurnHooks } from "./turn-hook.ts";

const TURN = { message: null, opening: null, startedAt: 0 };
const END = { stop: "end_turn", stopDetails: null, reported: {} } as const;
const notice = (text: string): SessionEventBody => ({ type: "tandem.notice", level: "info", text });
const textOf = (event: SessionEventBody): string => (event.type === "tandem.notice" ? event.text : event.type);

test("work beside the start of a turn holds up neither the prompt nor other hooks, but tools and the end of the turn", async () => {
  const slow = Promise.withResolvers<SessionEventBody[]>();
  const log: string[] = [];
  const hooks = new TurnHooks([
    { prepare: () => slow.promise, after: async () => [notice("after")] },
    { before: async () => [notice("before")] },
  ]);
  await hooks.before(TURN, async (events) => void log.push(...events.map(textOf)));
  expect(log).toEqual(["before"]);
  const prepared = hooks.prepared().then(() => log.push("tools may run"));
  const ended = hooks.after(TURN, END).then((events) => log.push(...events.map(textOf)));
  await Promise.resolve();
  expect(log).toEqual(["before"]);
  slow.resolve([notice("prepared")]);
  await Promise.all([prepared, ended]);
  expect(log).toEqual(["before", "prepared", "tools may run", "after"]);
});

test("that work begins once: with the model's answer, or before it if something waits for it", async () => {
  let begun = 0;
  const count = async () => {
    begun += 1;
    return [];
  };
  const hooks = new TurnHooks([{ prepare: count }]);
  await hooks.before(TURN, async () => undefined);
  expect(begun).toBe(0);
  hooks.prepare();
  await hooks.prepared();
  expect(begun).toBe(1);
  await hooks.before(TURN, async () => undefined);
  await hooks.prepared();
  hooks.prepare();
  expect(begun).toBe(2);
});

test("a log that cannot be written does not keep a turn from ending", async () => {
  const hooks = new TurnHooks([{ prepare: async () => [notice("prepared")], after: async () => [notice("after")] }]);
  await hooks.before(TURN, () => Promise.reject(new Error("The session was lost.")));
  await hooks.prepared();
  expect((await hooks.after(TURN, END)).map(textOf)).toEqual(["after"]);
});
