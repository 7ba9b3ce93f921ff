import type { defineTool, LlmRuntime, Tool } from "@tandem/runtime";
import type { Rehearsal } from "@tandem/rehearsal";
import { z } from "zod";
import type { Narrator } from "./narrator.ts";
import { NOTES, PROMPTS } from "./rehearsed-model.ts";

/** Enough calls for a meaningful median. */
const FAST_CALLS = 15;

export interface Stage {
  runtime: LlmRuntime;
  narrator: Narrator;
  rehearsal: Rehearsal;
  defineTool: typeof defineTool;
}

/** One text request. */
export async function textAct({ runtime, narrator }: Stage): Promise<void> {
  narrator.title("Text");
  narrator.says("you", PROMPTS.text);
  narrator.says(
    "model",
    await runtime.generateText({ role: "default", system: "You are terse.", prompt: PROMPTS.text }),
  );
  narrator.note("a Claude Code process was started for it, isolated: no settings, hooks, plugins or tools of yours");
}

/** One object, validated by the caller's schema and repaired once. */
export async function objectAct({ runtime, narrator, rehearsal }: Stage): Promise<void> {
  const schema = z.object({ severity: z.enum(["low", "high"]), component: z.string(), summary: z.string() });
  narrator.title("Object, checked against a schema");
  narrator.says("you", PROMPTS.object);
  const before = rehearsal.modelRequests.length;
  const object = await runtime.generateObject({
    role: "default",
    system: "You are terse.",
    prompt: PROMPTS.object,
    schema,
  });
  // The repair is visible only in the recorded requests.
  const repair = rehearsal.modelRequests[before + 1];
  const misfit = repair?.messages.flatMap(({ content }) => content).find(({ type }) => type === "tool_use");
  narrator.says("model", JSON.stringify(misfit?.["input"]));
  narrator.says("tandem", (repair?.toolResults[0]?.text ?? "").replaceAll(/\n\s+/g, "\n"));
  narrator.says("model", JSON.stringify(object));
}

/** An agent loop: the model calls tools until it is done or out of steps. */
export async function loopAct({ runtime, narrator, defineTool }: Stage): Promise<void> {
  const tools: Tool[] = [
    defineTool({
      name: "list_notes",
      description: "Names of all notes.",
      schema: z.object({}),
      execute: async () => ({ markdown: Object.keys(NOTES).join("\n") }),
    }),
    defineTool({
      name: "read_note",
      description: "The text of one note.",
      schema: z.object({ name: z.string() }),
      execute: async ({ name }) => ({ markdown: NOTES[name] ?? "There is no such note." }),
    }),
  ];
  narrator.title("Agent loop with two tools, at most 8 steps");
  narrator.says("you", PROMPTS.loop);
  const { text, steps, stopReason } = await runtime.runAgentLoop({
    role: "default",
    system: "You are terse.",
    prompt: PROMPTS.loop,
    tools,
    stepBudget: 8,
    onStepFinish: ({ stepIndex, toolCalls }) => {
      if (toolCalls.length > 0) narrator.says(`step ${stepIndex}`, toolCalls.join(", "));
    },
  });
  narrator.says("model", text);
  narrator.note(`ended as "${stopReason}" after ${steps} steps`);
}

/** A transient failure. Only the runtime retries. */
export async function busyAct({ runtime, narrator }: Stage): Promise<void> {
  narrator.title("A model that is overloaded once");
  narrator.says("you", PROMPTS.busy);
  const onWait = ({ until }: { until?: Date }): void => {
    const seconds = until ? ((until.getTime() - Date.now()) / 1_000).toFixed(1) : "some";
    narrator.says("wait", `529 overloaded: trying again in ${seconds} s`);
  };
  narrator.says(
    "model",
    await runtime.generateText({ role: "default", system: "You are terse.", prompt: PROMPTS.busy, onWait }),
  );
}

/** Repeats one call to show the effect of the process pool. */
export async function fastAct({ runtime, narrator }: Stage): Promise<void> {
  const milliseconds: number[] = [];
  narrator.title(`The same small call ${FAST_CALLS} times, on warm processes`);
  for (let call = 0; call < FAST_CALLS; call += 1) {
    const since = performance.now();
    await runtime.generateText({ role: "default", system: "You are terse.", prompt: PROMPTS.fast });
    milliseconds.push(performance.now() - since);
  }
  const median = milliseconds.toSorted((a, b) => a - b)[Math.floor(FAST_CALLS / 2)]!;
  narrator.note(`median ${median.toFixed(0)} ms from call to answer`);
}
