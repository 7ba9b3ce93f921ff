import { expect, test } from "vitest";
import { readModelList } from "./model-list.ts";

const yes = { supported: true };
const no = { supported: false };

test("reads all details of Anthropic's list", () => {
  const capabilities = {
    image_input: yes,
    batch: no,
    context_management: { supported: true, compact_20260112: null },
    effort: { supported: true, low: yes, medium: yes, high: yes, xhigh: null, max: no },
    thinking: { supported: true, types: { adaptive: yes } },
  };
  const model = {
    type: "model",
    id: "claude-x-1",
    display_name: "Claude X",
    created_at: "2026-05-01T00:00:00Z",
    line: "opus",
    lifecycle: "deprecated",
    deprecated_at: "2026-10-01T00:00:00Z",
    retires_at: "2027-01-01T00:00:00Z",
    max_input_tokens: 400_000,
    max_tokens: 90_000,
    capabilities,
  };
  expect(readModelList({ data: [model], has_more: false })).toEqual([
    {
      id: "claude-x-1",
      name: "Claude X",
      contextWindow: 400_000,
      maxOutputTokens: 90_000,
      releasedAt: "2026-05-01T00:00:00Z",
      lifecycle: "deprecated",
      deprecatedAt: "2026-10-01T00:00:00Z",
      retiresAt: "2027-01-01T00:00:00Z",
      features: { image_input: true, batch: false, context_management: true, effort: true, thinking: true },
      efforts: ["low", "medium", "high"],
    },
  ]);
});

test("keeps absent details unknown, and ignores unknown values", () => {
  const old = { id: "a", created_at: "1970-01-01T00:00:00Z", max_input_tokens: null, capabilities: null };
  const new_ = { id: "b", lifecycle: "preview", capabilities: { telepathy: "some", effort: no } };
  expect(readModelList({ data: [old, new_] })).toEqual([
    { id: "a", name: "a" },
    { id: "b", name: "b", features: { effort: false }, efforts: [] },
  ]);
});
