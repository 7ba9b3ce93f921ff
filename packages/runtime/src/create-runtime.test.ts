import { type CallReport, configSchema, noUsage } from "@tandem/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createNoneBackend } from "./create-backend.ts";
import { createRuntime } from "./create-runtime.ts";
import type { LlmBackend } from "./llm-backend.ts";

const { llm: config } = configSchema.parse({});
const ask = { role: "default", prompt: "Go." } as const;

/** Backends that violate their contract. The contract suite covers real ones. */
function setUp(operations: Partial<LlmBackend>, sink?: (report: CallReport) => void) {
  const reports: CallReport[] = [];
  const warnings: string[] = [];
  const runtime = createRuntime({
    config,
    backend: { ...createNoneBackend(), ...operations },
    sink: sink ?? ((report) => void reports.push(report)),
    log: { warn: (message) => void warnings.push(message) },
  });
  return { runtime, reports, warnings };
}

describe("createRuntime", () => {
  it("converts any thrown error to an LlmError with its cause, and reports it once", async () => {
    const cause = new RangeError("Out of nowhere.");
    const { runtime, reports } = setUp({ text: async () => Promise.reject(cause) });
    await expect(runtime.generateText(ask)).rejects.toMatchObject({
      name: "LlmError",
      code: "invalid_request",
      message: expect.stringContaining("Out of nowhere."),
      cause,
    });
    expect(reports).toMatchObject([{ outcome: "invalid_request" }]);
  });

  it("rejects a backend's object that violates the schema", async () => {
    const { runtime, reports } = setUp({ object: async () => ({ count: "many" }) });
    const schema = z.object({ count: z.number() });
    await expect(runtime.generateObject({ ...ask, schema })).rejects.toMatchObject({ code: "structured_output" });
    expect(reports).toHaveLength(1);
  });

  it("keeps the usage of a failed call by model, and prices each request separately", async () => {
    const { runtime, reports } = setUp({
      text: async ({ onUsage }) => {
        // Each below the length at which this model costs more, though not together.
        onUsage("claude-haiku-5-5", { ...noUsage(), inputTokens: 60_000 });
        onUsage("claude-haiku-5-5", { ...noUsage(), inputTokens: 60_000 });
        onUsage("claude-sonnet-5-5", { ...noUsage(), outputTokens: 1_000 });
        throw new Error("Too late.");
      },
    });
    await expect(runtime.generateText(ask)).rejects.toThrow("Too late.");
    expect(reports[0]).toMatchObject({
      usage: { inputTokens: 120_000, outputTokens: 1_000 },
      usageByModel: { "claude-haiku-5-5": { inputTokens: 120_000 }, "claude-sonnet-5-5": { outputTokens: 1_000 } },
    });
    expect(reports[0]?.cost?.usd).toBeCloseTo(0.012 + 0.01, 9);
  });

  it("survives a throwing sink and throwing callbacks", async () => {
    const { runtime, warnings } = setUp({ text: async () => "fine" }, () => {
      throw new Error("The sink is full.");
    });
    expect(await runtime.generateText(ask)).toBe("fine");
    expect(warnings).toEqual([expect.stringContaining("sink")]);
  });

  it("sends no empty system prompt", async () => {
    const systems: unknown[] = [];
    const { runtime } = setUp({ text: async ({ system }) => (systems.push(system), "fine") });
    for (const system of [undefined, "", " \n", "Be kind."]) await runtime.generateText({ ...ask, system });
    expect(systems).toEqual([undefined, undefined, undefined, "Be kind."]);
  });

  it("close waits until running calls are reported", async () => {
    const { runtime, reports } = setUp({
      text: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => setImmediate(() => reject(new Error("stopped"))), { once: true });
        }),
    });
    const call = runtime.generateText(ask).catch((error: unknown) => error);
    await runtime.close();
    expect(reports).toMatchObject([{ outcome: "aborted" }]);
    expect(await call).toMatchObject({ code: "aborted" });
    await expect(runtime.generateText(ask)).rejects.toMatchObject({ code: "aborted" });
  });
});
