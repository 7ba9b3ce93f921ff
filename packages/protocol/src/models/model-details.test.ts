import { expect, test } from "vitest";
import { completeModel, contextWindowOf, MODELS_AS_OF, tabledModels } from "./model-details.ts";
import { costOf, PRICES_AS_OF } from "./price.ts";
import { noUsage } from "./usage.ts";

const live = { from: "live", at: "2026-11-20T00:00:00Z" } as const;

test("the service's facts stay, the table fills the gaps, and each has its origin", () => {
  expect(completeModel({ id: "claude-opus-5-5", maxOutputTokens: 64_000, efforts: [] }, live)).toEqual({
    id: "claude-opus-5-5",
    contextWindow: 1_000_000,
    efforts: [],
    maxOutputTokens: 64_000,
    features: { thinking: true, adaptive_thinking: true },
    price: expect.objectContaining({ input: 4, output: 20 }) as object,
    origins: {
      contextWindow: { from: "table", at: MODELS_AS_OF },
      efforts: live,
      maxOutputTokens: live,
      features: { from: "table", at: MODELS_AS_OF },
      price: { from: "table", at: PRICES_AS_OF },
    },
  });
});

test("other services' spellings name the same model", () => {
  for (const id of ["anthropic/claude-opus-4.5", "claude-opus-4-5@20251101", "claude-opus-4-5-20251101"]) {
    expect(completeModel({ id }, live)).toMatchObject({ contextWindow: 200_000, price: { input: 5 } });
  }
});

test("an unknown model gets no guesses; another window of a known one does not get its size", () => {
  expect(completeModel({ id: "claude-unheard-9" }, live)).toEqual({ id: "claude-unheard-9", origins: {} });
  expect(completeModel({ id: "claude-sonnet-4-5[1m]" }, live).contextWindow).toBe(1_000_000);
});

test("a known model has one window, whatever a service lists; an unknown one has the service's", () => {
  for (const from of ["live", "cache"] as const) {
    const listed = (id: string) => completeModel({ id, contextWindow: 123_000 }, { ...live, from });
    expect(listed("claude-sonnet-5-5")).toMatchObject({
      contextWindow: contextWindowOf("claude-sonnet-5-5"),
      origins: { contextWindow: { from: "table" } },
    });
    expect(listed("claude-unheard-9")).toMatchObject({ contextWindow: 123_000, origins: { contextWindow: { from } } });
  }
});

test("every model of the table has a price", () => {
  const unpriced = tabledModels().filter(({ id }) => costOf(id, noUsage()) === null);
  expect(unpriced).toEqual([]);
});
