import { describe, expect, test } from "vitest";
import { joinPath } from "./join-path.ts";
import type { Relationship } from "./relationship.ts";

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
  test("follows references, with join conditions and without warnings", () => {
    const path = joinPath(shop, table("lines"), table("countries"));
    expect(path?.steps.map(({ condition }) => condition)).toEqual([
      "lines.order_id = orders.id",
      "orders.customer_id = customers.id",
      "customers.country = countries.code",
    ]);
    expect(path?.warnings).toEqual([]);
    expect(path?.confidence).toBeCloseTo(0.95 ** 3);
  });

  test("warns about fan-out", () => {
    const path = joinPath(shop, table("customers"), table("lines"));
    expect(path?.steps.map(({ cardinality }) => cardinality)).toEqual(["one-to-many", "one-to-many"]);
    expect(path?.warnings[0]).toContain("One row of customers meets many of orders");
  });

  test("warns about tables that only share a third", () => {
    const both = [link("invoices.customer_id", "customers.id"), link("visits.customer_id", "customers.id")];
    const path = joinPath(both, table("invoices"), table("visits"));
    expect(path?.warnings.join(" ")).toContain("have only customers in common");
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

  test("lists alternative joins of the same tables", () => {
    const roles = [link("orders.bill_to", "addresses.id"), link("orders.ship_to", "addresses.id", { confidence: 0.9 })];
    const path = joinPath(roles, table("orders"), table("addresses"));
    expect(path?.steps[0]?.condition).toBe("orders.bill_to = addresses.id");
    expect(path?.warnings.join(" ")).toContain("can also be joined on orders.ship_to = addresses.id");
  });

  test("prefers a long certain path over a short uncertain one", () => {
    const doubtful = [...shop, link("lines.c", "customers.id", { confidence: 0.3 })];
    expect(joinPath(doubtful, table("lines"), table("customers"))?.steps).toHaveLength(2);
  });

  test("uses links under review only on request, and marks them", () => {
    const links = [link("a.b_id", "b.id", { status: "review" }), link("a.c_id", "c.id", { status: "rejected" })];
    expect(joinPath(links, table("a"), table("b"))).toBeUndefined();
    expect(joinPath(links, table("a"), table("b"), { includeReview: true })?.warnings.join(" ")).toContain(
      "for review",
    );
    expect(joinPath(links, table("a"), table("c"), { includeReview: true })).toBeUndefined();
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
