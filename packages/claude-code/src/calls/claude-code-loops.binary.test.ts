import { setTimeout as delay } from "node:timers/promises";
import { LlmError } from "@tandem/protocol";
import { always, overloaded, slowly, text, toolUse, type Reply } from "@tandem/rehearsal";
import { afterAll, expect, inject, test } from "vitest";
import { z } from "zod";
import { call, failure, runningProcesses, setStage } from "../testing/claude-stage.ts";

const stage = await setStage();
// One process for all calls: a pool with more starts spares.
const claude = stage.claude({ pool: { size: 1, maxCalls: 1_000, maxMemoryMb: 2_000 } });
afterAll(() => stage[Symbol.asyncDispose]());

const look = {
  name: "look",
  description: "Looks.",
  schema: z.object({ at: z.string() }),
  execute: async (input: unknown) => ({
    markdown: `seen ${JSON.stringify(input)}`,
    structured: { secret: "never sent" },
  }),
};
const steps: unknown[] = [];
const loop = (overrides = {}) => {
  steps.length = 0;
  return {
    ...call(),
    tools: [look],
    stepBudget: 5,
    onStepFinish: async (step: unknown) => void steps.push(step),
    ...overrides,
  };
};
const useLook = (at = "x"): Reply => toolUse("mcp__tandem__look", { at });

test("loops end by themselves", async () => {
  stage.rehearsal.use([useLook(), text("done")]);
  expect(await claude.loop(loop())).toEqual({ stopReason: "natural", text: "done" });
  expect(steps).toEqual([
    { stepIndex: 1, stepBudget: 5, toolCalls: ["look"], toolFailures: 0 },
    { stepIndex: 2, stepBudget: 5, toolCalls: [], toolFailures: 0 },
  ]);
  expect(stage.rehearsal.modelRequests[1]!.toolResults).toMatchObject([{ text: 'seen {"at":"x"}', isError: false }]);
  expect(JSON.stringify(stage.rehearsal.modelRequests[1]!.body)).not.toContain("never sent");
});

test("loops stop exactly at the step budget, after the last tools have run, and report it", async () => {
  const ran: unknown[] = [];
  stage.rehearsal.use([always(useLook())]);
  const tools = [{ ...look, execute: async (input: unknown) => (ran.push(input), { markdown: "ok" }) }];
  expect(await claude.loop(loop({ tools, stepBudget: 3 }))).toMatchObject({ stopReason: "budget" });
  expect([stage.rehearsal.modelRequests.length, steps.length, ran.length]).toEqual([3, 3, 3]);
});

test("loops count steps that call an unknown tool", async () => {
  stage.rehearsal.use([always(toolUse("Bash", { command: "true" }))]);
  expect(await claude.loop(loop({ stepBudget: 2 }))).toMatchObject({ stopReason: "budget" });
  expect(steps).toMatchObject([{ toolCalls: ["Bash"], toolFailures: 1 }, { toolFailures: 1 }]);
  expect(stage.rehearsal.modelRequests).toHaveLength(2);
});

test("loops report a failing tool to the model and count it", async () => {
  stage.rehearsal.use([useLook(), text("so be it")]);
  const tools = [{ ...look, execute: async () => Promise.reject(new Error("lens cap on")) }];
  expect(await claude.loop(loop({ tools }))).toMatchObject({ stopReason: "natural" });
  expect(steps).toMatchObject([{ toolFailures: 1 }, { toolFailures: 0 }]);
  expect(stage.rehearsal.modelRequests[1]!.toolResults).toMatchObject([{ text: "lens cap on", isError: true }]);
});

test("loops are not restarted when their process dies while a tool runs", async () => {
  await using own = await setStage([always(useLook())]);
  let runs = 0;
  const tools = [
    {
      ...look,
      execute: async () => {
        runs += 1;
        for (const pid of await runningProcesses(own)) process.kill(-pid, "SIGKILL");
        return new Promise<{ markdown: string }>(() => {});
      },
    },
  ];
  const attempt = async <T>(operation: (attempt: number) => Promise<T>): Promise<T> =>
    operation(1).catch((error: unknown) => {
      if (error instanceof LlmError && error.transient) return operation(2);
      throw error;
    });
  const error = await failure(own.claude().loop(loop({ tools, attempt })));
  expect(error).toMatchObject({ code: "process_died", transient: false });
  expect(runs).toBe(1);
});

test("loops pass tool results up to the limit whole, and fail longer ones", async () => {
  const sizes = [60_000, 400_000, 600_000];
  const tools = [{ ...look, execute: async () => ({ markdown: "x".repeat(sizes.shift()!) }) }];
  stage.rehearsal.use([useLook(), useLook(), useLook(), text("done")]);
  await claude.loop(loop({ tools }));
  const seen = stage.rehearsal.modelRequests.slice(1).map(({ toolResults }) => toolResults[0]!);
  expect(seen.map(({ text, isError }) => (isError ? "failure" : text.length))).toEqual([60_000, 400_000, "failure"]);
  expect(steps).toMatchObject([{ toolFailures: 0 }, { toolFailures: 0 }, { toolFailures: 1 }, {}]);
});

test("loops reject with the error of a throwing callback, within the budget", async () => {
  stage.rehearsal.use([always(useLook())]);
  const onStepFinish = async () => Promise.reject(new Error("no more"));
  const error = await failure(claude.loop(loop({ onStepFinish, stepBudget: 2 })));
  expect(error.message).toContain("no more");
  expect(stage.rehearsal.modelRequests).toHaveLength(1);
});

test("loops continue after a request fails once tools have run", async () => {
  const ran: unknown[] = [];
  stage.rehearsal.use([useLook(), overloaded(), text("done")]);
  const tools = [{ ...look, execute: async (input: unknown) => (ran.push(input), { markdown: "ok" }) }];
  const attempt = async <T>(operation: (attempt: number) => Promise<T>): Promise<T> =>
    operation(1).catch(() => operation(2));
  expect(await claude.loop(loop({ tools, attempt }))).toMatchObject({ stopReason: "natural", text: "done" });
  expect(steps).toHaveLength(2);
  expect(ran).toHaveLength(1);
  const history = stage.rehearsal.modelRequests.at(-1)!.messages.map(({ role }) => role);
  expect(history.filter((role) => role === "assistant")).toHaveLength(1);
});

test("loops let tools and callbacks take longer than the model's deadlines, and apply the first-byte deadline to every request", async () => {
  const patient = stage.claude({
    deadlines: { idle: 2_000 * inject("slowness"), firstByte: 60_000 * inject("slowness") },
  });
  const slowDown = () => delay(2_100 * inject("slowness"));
  const tools = [{ ...look, execute: async () => (await slowDown(), { markdown: "slow" }) }];
  stage.rehearsal.use([
    useLook(),
    // Longer than the idle deadline.
    slowly(text("slow to begin"), { firstByteMs: 2_200 * inject("slowness") }),
  ]);
  expect(await patient.loop(loop({ tools, onStepFinish: slowDown }))).toEqual({
    stopReason: "natural",
    text: "slow to begin",
  });
  await patient.close();
});
