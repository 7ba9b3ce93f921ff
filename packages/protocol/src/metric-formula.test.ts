import { expect, test } from "vitest";
import { metricFormula } from "./metric-formula.ts";

const measures = {
  amount: { sum: "amount_cents / 100", where: ["real"] },
  stock: { sum: "on_hand", over: { time: "last" } },
};

test.each([
  [{ measure: "amount" }, "sum(amount_cents / 100) where real"],
  [{ measure: "amount", where: ["a or b", "c"] }, "sum(amount_cents / 100) where real and (a or b) and c"],
  [{ measure: "stock" }, "sum(on_hand), last of each period"],
  [{ measure: "gone" }, "gone"],
  [{ ratio: ["revenue", "orders"] }, "revenue / orders"],
  [
    { derived: "revenue / prior - 1", with: { prior: { metric: "revenue", offset: "1 year" } } },
    "revenue / prior - 1, prior = revenue 1 year earlier",
  ],
  [{ cumulative: "revenue", to: "year" }, "revenue, accumulated since the start of the year"],
  [{ cumulative: "revenue", window: "7 days" }, "revenue, accumulated over 7 days"],
  [{ label: "Unfinished" }, ""],
])("%j is %s", (metric, formula) => expect(metricFormula(metric, measures)).toBe(formula));
