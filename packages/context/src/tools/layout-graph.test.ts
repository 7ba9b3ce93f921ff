import { expect, test } from "vitest";
import { BOX, layoutGraph } from "./layout-graph.ts";

test("puts referencing tables left and referenced ones right", () => {
  const places = layoutGraph(
    ["orders", "customers", "lines"],
    [
      { from: "orders", to: "customers" },
      { from: "lines", to: "orders" },
      { from: "orders", to: "orders" },
    ],
  );
  const [lines, orders, customers] = ["lines", "orders", "customers"].map((id) => places.get(id)!);
  expect(lines!.x).toBeLessThan(orders!.x);
  expect(orders!.x).toBeLessThan(customers!.x);
  expect(new Set([lines!.y, orders!.y, customers!.y]).size).toBe(1);
});

test("never overlaps boxes", () => {
  const ids = Array.from({ length: 40 }, (_, at) => `t${at}`);
  const links = ids.slice(1, 34).map((from, at) => ({ from, to: `t${at % 3 === 0 ? 0 : Math.floor(at / 2)}` }));
  const places = [...layoutGraph(ids, links).values()];
  expect(places).toHaveLength(40);
  const overlapping = places.flatMap((a, at) =>
    places.slice(at + 1).filter((b) => Math.abs(a.x - b.x) < BOX.width && Math.abs(a.y - b.y) < BOX.height),
  );
  expect(overlapping).toEqual([]);
});

test("avoids unnecessary crossings", () => {
  const places = layoutGraph(
    ["hub", "a", "b", "x", "y"],
    [
      { from: "hub", to: "a" },
      { from: "hub", to: "b" },
      { from: "b", to: "x" },
      { from: "a", to: "y" },
    ],
  );
  const y = (id: string) => places.get(id)!.y;
  expect(Math.sign(y("a") - y("b"))).toBe(Math.sign(y("y") - y("x")));
});

test("is empty without tables", () => expect(layoutGraph([], [])).toEqual(new Map()));
