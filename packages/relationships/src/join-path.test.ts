import { describe, expect, test } from "vitest";
import { joinPaths } from "./join-path.ts";
import type { Relationship } from "./relationship.ts";

const joinPath = (...input: Parameters<typeof joinPaths>) => joinPaths(...input)[0];
const table = (name: string, schema = "main") => ({ schema, name });
const link = (from: string, to: string, more: Partial<Relationship> = {}): Relationship => {
  const end = (text: string) => {
    const [name = "", columns = ""] = text.split(".");
    return { table: table(name), columns: columns.split("+") };
  };
  const known = { origin: "data", status: "accepted", confidence: 0.95, cardinality: "many-to-one", why: [] } as const;
  return { ...known, from: end(from), to: end(to), ...more };
};

const shop = [
  link("orders.customer_id", "customers.id"),
  link("lines.order_id", "orders.id"),
  link("lines.product_id", "products.id"),
  link("customers.country", "countries.code"),
];

describe("joinPath", () => {
  test("follows references, with join conditions", () => {
    const path = joinPath(shop, table("lines"), table("countries"));
    expect(path?.steps.map(({ condition }) => condition)).toEqual([
      "lines.order_id = orders.id",
      "orders.customer_id = customers.id",
      "customers.country = countries.code",
    ]);
    expect(path?.inflated.map(({ table, reason }) => `${table.name} ${reason}`)).toEqual([
      "orders lookup",
      "customers lookup",
      "countries lookup",
    ]);
    expect(path?.confidence).toBeCloseTo(0.95 ** 3);
  });

  test("names every table upstream of a fan-out as inflated", () => {
    const fanOut = (from: string, to: string, links = shop) =>
      joinPath(links, table(from), table(to))
        ?.inflated.filter(({ reason }) => reason === "fan-out")
        .map((each) => each.table.name);
    expect(fanOut("customers", "lines")).toEqual(["customers", "orders"]);
    const payments = link("payments.order_id", "orders.id", { cardinality: "one-to-one" });
    expect(fanOut("payments", "lines", [...shop, payments])).toEqual(["payments", "orders"]);
    const visits = link("visits.customer_id", "customers.id");
    expect(fanOut("orders", "visits", [...shop, visits])).toEqual(["orders", "customers"]);
  });

  test("finds joins of a table with itself", () => {
    const links = [link("staff.reports_to", "staff.id"), link("staff.team_id", "teams.id")];
    expect(joinPaths(links, table("staff"), table("staff")).map(({ steps }) => steps[0]?.from.columns)).toEqual([
      ["reports_to"],
    ]);
    expect(joinPaths(links, table("teams"), table("teams"))).toEqual([]);
  });

  test("prefers a longer path over a shared parent", () => {
    const links = [
      link("orders.customer_id", "customers.id"),
      link("lines.order_id", "orders.id"),
      link("refunds.line_id", "lines.id"),
      link("customers.staff_id", "staff.id"),
      link("refunds.staff_id", "staff.id"),
    ];
    const path = joinPath(links, table("customers"), table("refunds"));
    expect(path?.steps.map(({ to }) => to.table.name)).toEqual(["orders", "lines", "refunds"]);
  });

  test("returns all paths that are as good, over one table or another", () => {
    const roles = [link("orders.bill_to", "addresses.id"), link("orders.ship_to", "addresses.id", { confidence: 0.9 })];
    const choices = (from: string, to: string, links: Relationship[]) =>
      joinPaths(links, table(from), table(to)).map(({ steps }) => steps.map(({ condition }) => condition).join(", "));
    expect(choices("orders", "addresses", roles)).toEqual([
      "orders.bill_to = addresses.id",
      "orders.ship_to = addresses.id",
    ]);
    const over = [
      link("a.b_id", "b.id"),
      link("a.c_id", "c.id"),
      link("b.d_id", "d.id"),
      link("c.d_id", "d.id"),
      link("c.old_d", "d.id", { confidence: 0.5 }),
    ];
    expect(choices("a", "d", over)).toEqual(["a.b_id = b.id, b.d_id = d.id", "a.c_id = c.id, c.d_id = d.id"]);
  });

  test("prefers a long certain path over a short uncertain one", () => {
    const doubtful = [...shop, link("lines.c", "customers.id", { confidence: 0.3 })];
    expect(joinPath(doubtful, table("lines"), table("customers"))?.steps).toHaveLength(2);
  });

  test("uses accepted links only", () => {
    const links = [link("a.b_id", "b.id", { status: "review" }), link("a.c_id", "c.id", { status: "rejected" })];
    expect(joinPath(links, table("a"), table("b"))).toBeUndefined();
    expect(joinPath(links, table("a"), table("c"))).toBeUndefined();
  });

  test("composite and polymorphic links have complete conditions", () => {
    const links = [
      link("taxes.order_id+line_no", "lines.order_id+no"),
      link("comments.subject_id", "posts.id", { when: { column: "subject_type", equals: "Post's" } }),
    ];
    expect(joinPath(links, table("taxes"), table("lines"))?.steps[0]?.condition).toBe(
      "taxes.order_id = lines.order_id AND taxes.line_no = lines.no",
    );
    expect(joinPath(links, table("comments"), table("posts"))?.steps[0]?.condition).toBe(
      "comments.subject_id = posts.id AND comments.subject_type = 'Post''s'",
    );
  });

  test("distinguishes tables of one name in two schemas", () => {
    const across = [
      link("x.y", "x.z", {
        from: { table: table("users", "sales"), columns: ["crm_id"] },
        to: { table: table("users", "crm"), columns: ["id"] },
      }),
    ];
    const path = joinPath(across, table("users", "sales"), table("users", "crm"));
    expect(path?.steps[0]?.condition).toBe("sales.users.crm_id = crm.users.id");
  });
});
