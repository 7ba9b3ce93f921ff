import type { Model } from "@tandem/sessions";
import { expect, test } from "vitest";
import { offeredModels } from "./offered-models.ts";

const model = (id: string): Model => ({ id, name: id, aliases: [] });

test("fetches the list once and again when it is stale", async () => {
  let [time, asked] = [0, 0];
  const models = offeredModels({
    ask: async () => [model(`m${++asked}`)],
    fallback: async () => [],
    onFailure: () => {},
    now: () => time,
  });
  const [first, second] = await Promise.all([models(), models()]);
  expect([first, second, await models()]).toEqual([[model("m1")], [model("m1")], [model("m1")]]);
  time = 24 * 3_600_000;
  expect(await models()).toEqual([model("m2")]);
});

test("uses the fallback until the first list, then the last list", async () => {
  let time = 0;
  let answer: Model[] | undefined;
  const failures: unknown[] = [];
  const models = offeredModels({
    ask: async () => answer ?? Promise.reject(new Error("no")),
    fallback: async () => [model("usual")],
    onFailure: (error) => failures.push(error),
    now: () => time,
  });
  expect(await models()).toEqual([model("usual")]);
  expect(await models()).toEqual([model("usual")]);
  expect(failures).toHaveLength(1);
  answer = [model("real")];
  time += 60_000;
  expect(await models()).toEqual([model("real")]);
  answer = undefined;
  time += 24 * 3_600_000;
  expect(await models()).toEqual([model("real")]);
});

test("uses a list that another engine fetched, until that is stale", async () => {
  const at = 1_000_000_000;
  let [time, asked] = [at + 60_000, 0];
  const offered = () =>
    offeredModels({
      ask: async () => [model(`m${++asked}`)],
      kept: async () => ({ at, models: [model("kept")] }),
      fallback: async () => [],
      onFailure: () => {},
      now: () => time,
    });
  const models = offered();
  expect(await models()).toEqual([model("kept")]);
  expect(asked).toBe(0);
  time = at + 3_600_000;
  expect(await models()).toEqual([model("m1")]);
  expect(await offered()()).toEqual([model("m2")]);
  // A time in the future comes from another clock.
  time = at - 1;
  expect(await offered()()).toEqual([model("m3")]);
});
