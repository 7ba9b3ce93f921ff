import { type CallReport, noUsage } from "@tandem/protocol";
import { expect, test } from "vitest";
import { describeReport } from "./call-report-line.ts";

const report: CallReport = {
  operation: "text",
  role: "default",
  model: "sonnet",
  backend: "claude-code",
  payer: "claude_login",
  usage: { ...noUsage(), inputTokens: 1_000, cacheReadTokens: 234, outputTokens: 56 },
  usageByModel: { "claude-sonnet-5-5": noUsage() },
  cost: { usd: 0.0041 },
  latencyMs: 21_234,
  waitedMs: 0,
  attempts: 1,
  outcome: "ok",
};

test("describes a call in one line", () => {
  expect(describeReport(report)).toBe(
    "claude-sonnet-5-5 · your Claude login · 1,234 in, 56 out · $0.0041 at list price · 21.2 s",
  );
});

test("includes noticeable waits and retries", () => {
  expect(describeReport({ ...report, waitedMs: 20_000, attempts: 2 })).toMatch(
    / · 21\.2 s, including 20\.0 s of waiting · 2 tries$/,
  );
  expect(describeReport({ ...report, waitedMs: 80 })).not.toContain("waiting");
});

test("shows no unknown price, and the configured model if none answered", () => {
  expect(describeReport({ ...report, cost: null, usageByModel: {} })).toMatch(/^sonnet · .* · price unknown · /);
});
