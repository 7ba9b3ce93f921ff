import { expect, test } from "vitest";
import { fitView, tableAt, zoomAt } from "./draw-schema.ts";
import { layoutSchema } from "./schema-layout.ts";

const size = { width: 800, height: 600 };
const nodes = Array.from({ length: 30 }, (_, at) => ({ id: `db/s.t${at}`, place: "db › s" }));
const links = nodes.slice(1).map(({ id }) => ({ from: id, to: "db/s.t0" }));
const layout = layoutSchema(nodes, links, "joins");

test("the first view shows every table, and a click finds the one under it", () => {
  const view = fitView(layout, size);
  for (const [at] of nodes.entries()) {
    const x = (layout.x[at]! - view.x) * view.zoom + size.width / 2;
    const y = (layout.y[at]! - view.y) * view.zoom + size.height / 2;
    expect(x > 0 && y > 0 && x < size.width && y < size.height).toBe(true);
    expect(tableAt({ x, y }, size, view, layout)).toBe(at);
  }
  expect(tableAt({ x: 0, y: 0 }, size, view, layout)).toBeUndefined();
});

test("zooming keeps the point under the pointer, within bounds", () => {
  const view = { x: 10, y: -20, zoom: 0.5 };
  const point = { x: 700, y: 100 };
  const under = ({ x, y, zoom }: typeof view) => [
    x + (point.x - size.width / 2) / zoom,
    y + (point.y - size.height / 2) / zoom,
  ];
  const [x, y] = under(zoomAt(view, 1.7, point, size));
  expect(x).toBeCloseTo(under(view)[0]!);
  expect(y).toBeCloseTo(under(view)[1]!);
  expect(zoomAt(view, 1_000, point, size).zoom).toBe(2.5);
});
