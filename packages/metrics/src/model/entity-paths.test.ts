import { expect, it } from "vitest";
import { type JoinedEntities, followPath } from "./entity-paths.ts";
import type { Role } from "./model.ts";

/** Each of so many entities refers to all later ones, and the last one to `target`. */
function chain(count: number): JoinedEntities {
  const names = [...Array.from({ length: count }, (_, at) => `e${at}`), "target"];
  const refer = (from: string, to: string): Role => ({
    name: to,
    isReverse: false,
    from,
    to,
    columns: [`${to}_id`],
    toColumns: ["id"],
    isSafe: true,
  });
  return new Map(
    names.map((name, at) => {
      const later = at < count - 1 ? names.slice(at + 1, count) : names.slice(at + 1);
      const roles = later.map((to) => refer(name, to));
      return [name, { roles, reverse: [] }];
    }),
  );
}

it("finds the shortest way in a dense schema without walking all of them", () => {
  const entities = chain(40);
  const found = followPath(entities, "e0", ["target"], "one");
  expect(found?.steps.map(({ to }) => to)).toEqual(["e39", "target"]);
  expect(found?.others.length).toBeGreaterThan(0);
  expect(found?.others.every((way) => way.length > 2)).toBe(true);
  expect(followPath(entities, "target", ["e0"], "one")).toBeUndefined();
});
