import { describe, expect, it } from "vitest";
import { addCost, costOf } from "./price.ts";
import { noUsage } from "./usage.ts";

const usd = (model: string, usage: Partial<ReturnType<typeof noUsage>>) =>
  costOf(model, { ...noUsage(), ...usage })?.usd;

describe("costOf", () => {
  it.each([
    ["inputTokens", 2],
    ["outputTokens", 10],
    ["cacheReadTokens", 0.1],
    ["cacheWrite5mTokens", 2.5],
    ["cacheWrite1hTokens", 4],
    ["webSearches", 10_000],
  ])("charges a million of sonnet's %s at %d dollars", (kind, dollars) => {
    expect(usd("claude-sonnet-5-5", { [kind]: 1_000_000 })).toBeCloseTo(dollars, 9);
  });

  it("sums a request with every kind of token", () => {
    const usage = {
      inputTokens: 10,
      outputTokens: 100,
      cacheReadTokens: 4_000,
      cacheWrite5mTokens: 200,
      webSearches: 2,
    };
    expect(usd("claude-opus-4-8", usage)).toBeCloseTo(0.00005 + 0.0025 + 0.002 + 0.00125 + 0.02, 9);
  });

  it.each([
    "claude-opus-4-5-20251101",
    "claude-opus-4-5@20251101",
    "anthropic/claude-opus-4.5",
    "claude-opus-4-5[1m]",
    "claude-opus-4-5@default",
  ])("knows %s by its name on each backend", (id) => {
    expect(usd(id, { inputTokens: 1_000_000 })).toBe(5);
  });

  it.each([
    "claude-opus-9",
    "anthropic/claude-opus-5.5-fast",
    "anthropic/claude-opus-5-batch",
    "openai/gpt-6-sol",
    "sonnet",
  ])("says unknown rather than something wrong for %s", (id) => {
    expect(costOf(id, { ...noUsage(), inputTokens: 5 })).toBeNull();
  });

  it("charges the whole request at the long-prompt rate if its prompt is long", () => {
    expect(usd("claude-haiku-5-5", { inputTokens: 100_000, outputTokens: 300_000 })).toBeCloseTo(0.16, 9);
    expect(
      usd("claude-haiku-5-5", { inputTokens: 60_000, cacheWrite5mTokens: 50_000, outputTokens: 1_000 }),
    ).toBeCloseTo(0.06375, 9);
  });
});

it("a sum with an unknown price is unknown", () => {
  expect(addCost({ usd: 1 }, { usd: 2 })).toEqual({ usd: 3 });
  expect(addCost({ usd: 1 }, null)).toBeNull();
  expect(addCost({ usd: 0 }, { usd: 0 })).toEqual({ usd: 0 });
});
