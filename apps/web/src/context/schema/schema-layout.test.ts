import { expect, test } from "vitest";
import { layoutSchema, type SchemaLink, type SchemaNode } from "./schema-layout.ts";

/** Stars of ten tables around one, and tables without joins. */
function stars(count: number, alone: number): { nodes: SchemaNode[]; links: SchemaLink[] } {
  const nodes: SchemaNode[] = [];
  const links: SchemaLink[] = [];
  for (let star = 0; star < count; star += 1) {
    nodes.push({ id: `db/s${star % 3}.hub${star}`, place: `db › s${star % 3}` });
    for (let ray = 0; ray < 10; ray += 1) {
      const id = `db/s${star % 3}.ray${star}_${ray}`;
      nodes.push({ id, place: `db › s${star % 3}` });
      links.push({ from: id, to: `db/s${star % 3}.hub${star}` });
    }
  }
  for (let at = 0; at < alone; at += 1) nodes.push({ id: `db/s0.alone${at}`, place: "db › s0" });
  return { nodes, links };
}

test("joined tables form clusters that do not overlap, and the same input gives the same picture", () => {
  const { nodes, links } = stars(8, 5);
  const layout = layoutSchema(nodes, links, "joins");
  expect(layout.clusters.map(({ label, size }) => `${label} ${size}`)).toEqual([
    ...Array.from({ length: 8 }, (_, star) => `around hub${star} 11`),
    "without joins 5",
  ]);
  for (const [at, a] of layout.clusters.entries()) {
    for (const b of layout.clusters.slice(at + 1)) {
      expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(a.radius + b.radius);
    }
  }
  for (const [at] of nodes.entries()) {
    const { x, y, radius } = layout.clusters[layout.cluster[at]!]!;
    expect(Math.hypot(layout.x[at]! - x, layout.y[at]! - y)).toBeLessThanOrEqual(radius);
  }
  expect(layoutSchema(nodes, links, "joins")).toEqual(layout);
});

test("tables can be grouped by schema, and a link to an unknown table is ignored", () => {
  const { nodes, links } = stars(3, 0);
  const layout = layoutSchema(nodes, [...links, { from: nodes[0]!.id, to: "db/s9.gone" }], "schema");
  expect(layout.clusters.map(({ label }) => label)).toEqual(["db › s0", "db › s1", "db › s2"]);
  expect(layoutSchema([], [], "joins").clusters).toEqual([]);
});
