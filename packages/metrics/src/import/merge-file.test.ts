import { describe, expect, test } from "vitest";
import { DBT_LEGACY } from "./testing/dbt-shop.ts";
import { importShop } from "./testing/import-shop.ts";

const first = await importShop("dbt", DBT_LEGACY);
const stored = first.files.map(({ entity, text }) => ({
  path: `metrics/shop/${entity}.yaml`,
  text,
  handLines: new Set<number>(),
}));
const orderFile = (text: string, hand: (line: string) => boolean = () => false) =>
  stored.map((file) => {
    if (!file.path.endsWith("/order.yaml")) return file;
    const handLines = new Set(text.split("\n").flatMap((line, at) => (hand(line) ? [at + 1] : [])));
    return { ...file, text, handLines };
  });
const order = stored.find(({ path }) => path.endsWith("/order.yaml"))!.text;
const changed = DBT_LEGACY.map((file) => ({
  ...file,
  text: file.text.replace("All orders, also cancelled ones.", "Every order."),
}));

describe("a project that was imported before", () => {
  test("without changes proposes nothing", async () => {
    expect((await importShop("dbt", DBT_LEGACY, stored)).files).toEqual([]);
  });
  test("changes its own definition, and no other line", async () => {
    const { files } = await importShop("dbt", changed, stored);
    expect(files.map(({ entity }) => entity)).toEqual(["order"]);
    expect(files[0]?.text).toBe(order.replace("All orders, also cancelled ones.", "Every order."));
    expect(files[0]?.regions.map(({ part }) => part)).toEqual(["metrics.orders"]);
  });
  test("keeps a definition that a person has edited", async () => {
    const edited = order.replace("All orders, also cancelled ones.", "Orders, as finance counts them.");
    const { files, unmapped } = await importShop(
      "dbt",
      changed,
      orderFile(edited, (line) => line.includes("finance")),
    );
    expect(files).toEqual([]);
    expect(unmapped.find(({ item }) => item === "metric orders")?.reason).toBe(
      "A person has edited it in the context. That definition is kept.",
    );
  });
  test("asks about a definition that is gone, and does not delete it", async () => {
    const texts = DBT_LEGACY.map((file) => ({
      ...file,
      text: file.text.replace(/ {2}- name: buyers\n {4}type: simple\n.*\n/, ""),
    }));
    const { files, asked } = await importShop("dbt", texts, stored);
    expect(files).toEqual([]);
    expect(asked).toEqual([]);
    const { asked: questions } = await importShop(
      "dbt",
      texts.map((file) => ({ ...file, text: file.text.replace(/.*name: buyers, agg.*\n/, "") })),
      stored,
    );
    expect(questions.map(({ item }) => item)).toEqual(["measure buyers", "metric buyers"]);
  });
});

describe("definitions of people", () => {
  const own = `# Ours.
entity: order
table: main.orders
grain: [id]
time: shipped
dimensions: { shipped: { expr: shipped_at, time: day } }
measures:
  # By hand.
  order_count: { count: rows, where: "status <> 'cancelled'" }
metrics:
  paid_orders: { measure: order_count, where: "status = 'done'" }
`;
  test("keep their names, and imports that depend on those names are left out", async () => {
    const { files, metrics, unmapped } = await importShop("dbt", DBT_LEGACY, [
      { path: "metrics/shop/order.yaml", text: own, handLines: new Set([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) },
    ]);
    const file = files.find(({ entity }) => entity === "order")!;
    expect(file.text).toContain("# Ours.\n");
    expect(file.text).toContain(`  # By hand.\n  order_count: { count: rows, where: "status <> 'cancelled'" }\n`);
    expect(metrics).not.toContain("orders");
    expect(metrics).not.toContain("order_value");
    expect(metrics).toContain("buyers");
    expect(unmapped.find(({ item }) => item === "metric orders")?.reason).toBe(
      "It needs order_count, which the context defines otherwise.",
    );
    // The file's default time is another one.
    expect(file.file.measures?.["buyers"]).toEqual({ count_distinct: "customer_id", time: "ordered_at" });
    expect(file.file.time).toBe("shipped");
  });
});
