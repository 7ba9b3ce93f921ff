import { LlmError } from "@tandem/protocol";
import {
  always,
  overloaded,
  reply,
  stallBeforeFirstByte,
  text,
  thinking,
  toolUse,
  unauthorized,
} from "@tandem/rehearsal";
import { expect, inject } from "vitest";
import { z } from "zod";
import type { LoopResult, StepFinished } from "../llm-runtime.ts";
import { defineTool } from "../tool.ts";
import { SYSTEM, type Behaviours } from "./runtime-stage.ts";

/** A tool that records its inputs, and a request with it. */
function setUp(execute?: (at: string, signal: AbortSignal) => Promise<string>) {
  const asked: string[] = [];
  const steps: StepFinished[] = [];
  const look = defineTool({
    name: "look",
    description: "Looks at a place.",
    schema: z.object({ at: z.string() }),
    execute: async ({ at }, { signal }) => {
      asked.push(at);
      const markdown = execute ? await execute(at, signal) : `You see **${at}**.`;
      return { markdown, structured: { hidden: `private-${at}` } };
    },
  });
  const request = {
    role: "default",
    prompt: "Look around.",
    tools: [look],
    stepBudget: 5,
    onStepFinish: (step: StepFinished) => void steps.push(step),
  } as const;
  return { asked, steps, request };
}

/** Throws the error of a loop that should have succeeded. */
function endedWell(result: LoopResult): LoopResult {
  if (result.error) throw result.error;
  return result;
}

export const verifyLoops: Behaviours = {
  "A loop ends as `natural` when the model is done": async (stage) => {
    const { asked, steps, request } = setUp();
    const { runtime, reports } = await stage.play([
      reply([text("I look."), toolUse(stage.tool("look"), { at: "the lake" })]),
      text("A lake it is."),
    ]);
    expect(endedWell(await runtime.runAgentLoop({ ...request, system: SYSTEM }))).toMatchObject({
      stopReason: "natural",
      text: "A lake it is.",
      steps: 2,
      toolCalls: 1,
      toolFailures: 0,
    });
    expect(asked).toEqual(["the lake"]);
    expect(steps).toEqual([
      { stepIndex: 1, stepBudget: 5, toolCalls: ["look"], toolFailures: 0 },
      { stepIndex: 2, stepBudget: 5, toolCalls: [], toolFailures: 0 },
    ]);
    const [first, second] = stage.rehearsal.modelRequests;
    expect(first?.system).toContain(SYSTEM);
    expect(second?.toolResults).toMatchObject([{ text: "You see **the lake**.", isError: false }]);
    expect(reports).toMatchObject([{ operation: "loop", outcome: "ok" }]);
    stage.rehearsal.assertDone();
  },

  // Prevents a bug of similar runtimes: a loop at its limit was an error without steps or usage.
  "A step budget of N makes N requests and N callbacks, runs the last tools, and is `budget`": async (stage) => {
    const { asked, steps, request } = setUp();
    const { runtime, reports } = await stage.play([always(toolUse(stage.tool("look"), { at: "the lake" }))]);
    const result = endedWell(await runtime.runAgentLoop({ ...request, stepBudget: 3 }));
    expect(result).toMatchObject({ stopReason: "budget", steps: 3, toolCalls: 3, toolFailures: 0 });
    expect(result.usage.outputTokens).toBeGreaterThan(0);
    expect(result.error).toBeUndefined();
    expect(stage.rehearsal.modelRequests).toHaveLength(3);
    expect(asked).toHaveLength(3);
    expect(steps.map(({ stepIndex, stepBudget }) => [stepIndex, stepBudget])).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
    expect(reports).toMatchObject([{ outcome: "budget" }]);
  },

  "A model that is done in its last step ends as `natural`": async (stage) => {
    const { steps, request } = setUp();
    const { runtime } = await stage.play([toolUse(stage.tool("look"), { at: "the lake" }), text("Done.")]);
    const result = endedWell(await runtime.runAgentLoop({ ...request, stepBudget: 2 }));
    expect(result).toMatchObject({ stopReason: "natural", text: "Done.", steps: 2 });
    expect(steps).toHaveLength(2);
  },

  "A throwing tool is counted and reported to the model as an error": async (stage) => {
    const { steps, request } = setUp(async () => {
      throw new Error("The fog is too thick.");
    });
    const { runtime } = await stage.play([toolUse(stage.tool("look"), { at: "the lake" }), text("I see nothing.")]);
    const result = endedWell(await runtime.runAgentLoop(request));
    expect(result).toMatchObject({ stopReason: "natural", toolCalls: 1, toolFailures: 1 });
    expect(steps[0]).toMatchObject({ toolCalls: ["look"], toolFailures: 1 });
    expect(stage.rehearsal.modelRequests[1]?.toolResults).toMatchObject([
      { isError: true, text: expect.stringContaining("The fog is too thick.") },
    ]);
  },

  "Invalid tool input is a tool failure, and the tool does not run": async (stage) => {
    const { asked, request } = setUp();
    const { runtime } = await stage.play([toolUse(stage.tool("look"), { at: 7 }), text("Oh.")]);
    expect(endedWell(await runtime.runAgentLoop(request))).toMatchObject({
      stopReason: "natural",
      toolCalls: 1,
      toolFailures: 1,
    });
    expect(asked).toEqual([]);
    const [result] = stage.rehearsal.modelRequests[1]?.toolResults ?? [];
    expect(result).toMatchObject({ isError: true, text: expect.stringMatching(/expected string[^]*at/) });
  },

  "An unknown tool is a tool failure": async (stage) => {
    const { asked, request } = setUp();
    const { runtime } = await stage.play([toolUse("fly", { to: "the moon" }), text("I cannot fly.")]);
    expect(endedWell(await runtime.runAgentLoop(request))).toMatchObject({
      stopReason: "natural",
      toolCalls: 1,
      toolFailures: 1,
    });
    expect(asked).toEqual([]);
    expect(stage.rehearsal.modelRequests[1]?.toolResults).toMatchObject([{ isError: true }]);
  },

  "The model sees only the markdown of a tool's output": async (stage) => {
    const { request } = setUp();
    const { runtime } = await stage.play([toolUse(stage.tool("look"), { at: "the lake" }), text("Done.")]);
    await runtime.runAgentLoop(request);
    const [, second] = stage.rehearsal.modelRequests;
    expect(second?.toolResults.map(({ text }) => text)).toEqual(["You see **the lake**."]);
    expect(JSON.stringify(second?.body)).not.toMatch(/hidden|private-/);
  },

  "Several tool calls in one answer are one step, and all are answered": async (stage) => {
    const { asked, steps, request } = setUp(async (at) => {
      if (at === "the fog") throw new Error("Too thick.");
      return `You see ${at}.`;
    });
    const places = ["the lake", "the fog", "the hill"];
    const calls = places.map((at, index) => toolUse(stage.tool("look"), { at }, { id: `toolu_${index}` }));
    const { runtime } = await stage.play([reply(calls), text("Done.")]);
    expect(endedWell(await runtime.runAgentLoop(request))).toMatchObject({ steps: 2, toolCalls: 3, toolFailures: 1 });
    expect(asked.toSorted()).toEqual(places.toSorted());
    expect(steps[0]?.toolCalls).toEqual(["look", "look", "look"]);
    const results = stage.rehearsal.modelRequests[1]?.toolResults ?? [];
    expect(Object.fromEntries(results.map(({ toolUseId, isError }) => [toolUseId, isError]))).toEqual({
      toolu_0: false,
      toolu_1: true,
      toolu_2: false,
    });
  },

  "Offers only the caller's tools": async (stage) => {
    const { request } = setUp();
    const { runtime } = await stage.play([text("Nothing to do."), text("Nothing either.")]);
    await runtime.runAgentLoop(request);
    await runtime.generateText({ role: "default", prompt: "And now?" });
    const [loop, plain] = stage.rehearsal.modelRequests;
    // Claude Code adds a placeholder, which is not a tool, for some models.
    const offered = loop?.toolNames.filter((name) => name !== "DeferredToolPlaceholder");
    expect(offered).toEqual([stage.tool("look")]);
    expect(loop?.tools[0]).toMatchObject({
      description: "Looks at a place.",
      inputSchema: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
    });
    expect(plain?.toolNames).toEqual([]);
  },

  "Sends thinking between tool calls back to the model with its signature": async (stage) => {
    const { request } = setUp();
    const { runtime } = await stage.play([
      reply([thinking("Where to?", "signature-of-a-thought"), toolUse(stage.tool("look"), { at: "the lake" })]),
      text("Done."),
    ]);
    await runtime.runAgentLoop(request);
    const [, second] = stage.rehearsal.modelRequests;
    const thought = second?.messages.flatMap(({ content }) => content).find(({ type }) => type === "thinking");
    expect(thought).toMatchObject({ thinking: "Where to?" });
    expect(JSON.stringify(thought)).toContain("signature-of-a-thought");
  },

  "A throwing callback is logged, and the loop continues": async (stage) => {
    const { request } = setUp();
    const { runtime, warnings } = await stage.play([toolUse(stage.tool("look"), { at: "the lake" }), text("Done.")]);
    const onStepFinish = async () => {
      throw new Error("The progress bar fell over.");
    };
    const result = endedWell(await runtime.runAgentLoop({ ...request, onStepFinish }));
    expect(result).toMatchObject({ stopReason: "natural", text: "Done.", steps: 2 });
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain("onStepFinish");
  },

  "Retries a failure between steps without running a tool twice": async (stage) => {
    const { asked, steps, request } = setUp();
    const { runtime, reports } = await stage.play([
      toolUse(stage.tool("look"), { at: "the lake" }),
      overloaded(),
      text("Done."),
    ]);
    expect(endedWell(await runtime.runAgentLoop(request))).toMatchObject({
      stopReason: "natural",
      text: "Done.",
      steps: 2,
    });
    expect(asked).toEqual(["the lake"]);
    expect(steps.map(({ stepIndex }) => stepIndex)).toEqual([1, 2]);
    expect(reports).toMatchObject([{ outcome: "ok", attempts: 2 }]);
    stage.rehearsal.assertDone();
  },

  // Prevents a bug of similar runtimes: a loop kept its slot while its tools waited for one.
  "Tools and callbacks may call the runtime, even with a `limits.concurrency` of 1": async (stage) => {
    const answers: string[] = [];
    const calls = [1, 2].map((n) => toolUse(stage.tool("look"), { at: `place ${n}` }, { id: `toolu_${n}` }));
    const script = [reply(calls), text("One."), text("Two."), text("Three."), text("Done.")];
    const { runtime, reports } = await stage.play(script, { limits: { concurrency: 1 } });
    const nested = async () => {
      const signal = AbortSignal.timeout(20_000 * inject("slowness"));
      const answer = await runtime.generateText({ role: "triage", prompt: "What is there?", signal });
      answers.push(answer);
      return answer;
    };
    const { request } = setUp(nested);
    const onStepFinish = async ({ stepIndex }: StepFinished) => {
      if (stepIndex === 1) await nested();
    };
    expect(endedWell(await runtime.runAgentLoop({ ...request, onStepFinish }))).toMatchObject({
      text: "Done.",
      steps: 2,
      toolFailures: 0,
    });
    expect(answers).toEqual(["One.", "Two.", "Three."]);
    expect(reports.map(({ operation }) => operation)).toEqual(["text", "text", "text", "loop"]);
    stage.rehearsal.assertDone();
  },

  "A failed loop reports its error and keeps its steps and usage": async (stage) => {
    const { request } = setUp();
    const { runtime, reports } = await stage.play([
      toolUse(stage.tool("look"), { at: "the lake" }, { usage: { input_tokens: 40, output_tokens: 9 } }),
      always(unauthorized()),
    ]);
    const result = await runtime.runAgentLoop(request);
    expect(result).toMatchObject({ stopReason: "error", steps: 1, toolCalls: 1, usage: { outputTokens: 9 } });
    expect(result.error).toBeInstanceOf(LlmError);
    expect(result.error?.code).toBe("auth_rejected");
    expect(reports).toMatchObject([{ outcome: "auth_rejected", usage: { outputTokens: 9 } }]);
  },

  "An abort during a tool ends the loop within a second and reaches the tool": async (stage) => {
    const controller = new AbortController();
    const running = Promise.withResolvers<AbortSignal>();
    const { request } = setUp(async (_at, signal) => {
      running.resolve(signal);
      // Ignores its signal, as tools may.
      return new Promise<never>(() => undefined);
    });
    const { runtime } = await stage.play([
      toolUse(stage.tool("look"), { at: "the lake" }),
      always(stallBeforeFirstByte()),
    ]);
    const loop = runtime.runAgentLoop({ ...request, signal: controller.signal });
    const signal = await running.promise;
    const started = performance.now();
    controller.abort();
    const result = await loop;
    expect(performance.now() - started).toBeLessThan(1_500 * inject("slowness"));
    expect(result).toMatchObject({ stopReason: "error", error: { code: "aborted" } });
    expect(signal.aborted).toBe(true);
  },

  "Rejects an invalid step budget or invalid tools before anything is sent": async (stage) => {
    const { request } = setUp();
    const { runtime } = await stage.play([]);
    for (const stepBudget of [0, -1, 1.5, Number.NaN]) {
      await expect(runtime.runAgentLoop({ ...request, stepBudget })).rejects.toMatchObject({ code: "bad_request" });
    }
    const twice = [...request.tools, ...request.tools];
    await expect(runtime.runAgentLoop({ ...request, tools: twice })).rejects.toMatchObject({ code: "bad_request" });
    expect(stage.rehearsal.modelRequests).toHaveLength(0);
  },
};
