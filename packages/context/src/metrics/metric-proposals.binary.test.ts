import { configSchema } from "@tandem/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createProposals } from "../proposals/create-proposals.ts";
import type { Draft } from "../draft.ts";
import type { Proposals } from "../proposals/proposals.ts";
import { type MetricStage, openMetricStage, SHOP_FILES } from "./testing/metric-stage.ts";

const { signal } = new AbortController();
const PATH = "metrics/shop/order.yaml";
const ORDER = SHOP_FILES[PATH]!;
const WITH_LARGEST = ORDER.replace(
  "metrics:\n",
  "  largest: { max: cents }\nmetrics:\n  largest_order: { measure: largest }\n",
);

let stage: MetricStage;
let proposals: Proposals;
beforeAll(async () => {
  stage = await openMetricStage();
  const { folder, store } = stage;
  const always = {
    structure: "always",
    descriptions: "when-empty",
    joins: "certain",
    wiki: "always",
    memory: "always",
  };
  const { accept } = configSchema.parse({ context: { accept: always } }).context;
  proposals = createProposals({ folder, store, space: folder.id, accept });
});
afterAll(() => stage[Symbol.asyncDispose]());

/** Proposes a metric with its measure. */
async function propose(title: string) {
  const evidence = [{ type: "person" as const, name: "Ada", at: "2026-01-01T00:00:00Z" }];
  // A draft that calls its lines structure must not get past the review either.
  const support = [{ from: 1, to: Infinity, aspect: "structure" as const, evidence }];
  const draft: Draft = { path: PATH, before: ORDER, after: WITH_LARGEST, support };
  return (await proposals.propose({ job: null, title, summary: "", drafts: [draft], includeRejected: true }))!;
}

const gate = (text: string, path = PATH) => stage.metrics.gate({ path, text }, { signal });

test("no rule accepts a metric, and an accepted one can be undone", async () => {
  const proposal = await propose("A metric");
  expect(proposal.counts).toMatchObject({ open: 2, accepted: 0 });
  const names = async () => (await stage.metrics.list()).map(({ name }) => name);
  expect(await names()).not.toContain("largest_order");
  await proposals.accept(proposal.id, { by: "Ada" });
  expect(await names()).toContain("largest_order");
  const { version } = await stage.metrics.retrieve({ name: "largest_order" });
  const accepted = (await proposals.get(proposal.id))!.commits.at(-1)!;
  expect(accepted.startsWith(version)).toBe(true);
  await proposals.undo(proposal.id, "Ada");
  expect(await names()).not.toContain("largest_order");
});

test("a metric is not accepted without the measure that it needs", async () => {
  const proposal = await propose("A part");
  const [measure, metric] = proposal.changes[0]!.hunks;
  const alone = proposals.accept(proposal.id, { hunks: [metric!.id], by: "Ada" });
  await expect(alone).rejects.toThrow(/would leave metrics\/shop\/order.yaml broken: .*needs the measure largest/);
  expect((await proposals.get(proposal.id))!.counts).toMatchObject({ open: 2, conflict: 0 });
  await proposals.accept(proposal.id, { hunks: [measure!.id], by: "Ada" });
  const { counts } = await proposals.accept(proposal.id, { hunks: [metric!.id], by: "Ada" });
  expect(counts).toMatchObject({ open: 0, accepted: 2 });
  await proposals.undo(proposal.id, "Ada");
});

test("a metric whose measure was rejected is not accepted", async () => {
  const proposal = await propose("A rest");
  await proposals.reject(proposal.id, { hunks: [proposal.changes[0]!.hunks[0]!.id], by: "Ada" });
  await expect(proposals.accept(proposal.id, { by: "Ada" })).rejects.toThrow(/needs the measure largest/);
  await proposals.reject(proposal.id, { by: "Ada" });
});

test("the gate lets a good file pass, and names what is wrong with others", async () => {
  expect(await gate(WITH_LARGEST)).toEqual([]);
  expect(await gate("entity: [")).toMatchObject([{ path: PATH, message: expect.stringContaining("Line 1: ") }]);
  expect(await gate(ORDER.replace("sum: cents", "sum: dollars"))).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: "amount", message: "main.orders has no column dollars." }),
    ]),
  );
  expect(await gate(ORDER.replace("ratio: [revenue, orders]", "ratio: [revenue, parcels]"))).toMatchObject([
    { name: "average_order", message: expect.stringContaining("parcels") },
  ]);
  const twice = SHOP_FILES["metrics/shop/customer.yaml"]!.replace("customers:", "revenue:");
  expect(await gate(twice, "metrics/shop/customer.yaml")).toMatchObject([{ name: "revenue" }]);
  expect(await gate(ORDER, "metrics/nowhere/order.yaml")).toMatchObject([{ path: "metrics/nowhere/order.yaml" }]);
});

test("the gate asks the database, which may know better than the catalogue", async () => {
  const path = "catalogue/shop/main.orders.yaml";
  await stage.write(path, SHOP_FILES[path]!.replace("joins:", "  - { name: weight, type: INTEGER }\njoins:"));
  const text = WITH_LARGEST.replace("max: cents", "max: weight");
  expect(await gate(text)).toMatchObject([{ name: "largest_order", message: expect.stringContaining("weight") }]);
  await stage.write(PATH, text);
  const { problems, unreachable } = await stage.metrics.explain({}, { signal });
  expect([problems, unreachable]).toMatchObject([[{ name: "largest_order" }], []]);
});
