import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  always,
  creditTooLow,
  failMidStream,
  modelNotFound,
  overloaded,
  planLimit,
  refusal,
  reply,
  slowly,
  stallMidStream,
  text,
  toolUse,
  when,
} from "@tandem/rehearsal";
import type { OpenSession } from "./open-session.ts";
import { isEvent, usage, type Scenario } from "./scenario.ts";

const idle = (session: OpenSession) =>
  session.until((output) => output.type === "background" && output.tasks.length === 0);

/** Turns: progress, steering, background work, and every way to end. */
export const turnScenarios: Record<string, Scenario> = {
  text: { script: [text("Hello there.", usage(100, 20))] },

  "two-turns": {
    script: [text("First.", usage(100, 20)), text("Second.", usage(120, 30))],
    drive: async (session) => {
      await session.turn("One.");
      await session.turn("Two.");
    },
  },

  compaction: {
    script: [
      when((request) => request.lastUserText.startsWith("CRITICAL"), text("<summary>Hello.</summary>", usage(777, 77))),
      text("Big.", usage(985_000, 5)),
      text("Small again.", usage(50, 6)),
    ],
    drive: async (session) => {
      await session.turn("One.");
      await session.turn("Two.");
    },
  },

  "empty-answer": { script: [always(reply([], usage(100, 1)))] },

  retry: { script: [overloaded(), overloaded(), text("At last.")] },

  "broken-stream": { script: [failMidStream("It begins"), text("Whole.")] },

  "plan-limit": { script: [always(planLimit({ resetsAt: new Date("2027-01-01T00:00:00Z") }))] },

  "no-credit": { script: [always(creditTooLow())] },

  "unknown-model": { script: [always(modelNotFound("claude-nope"))] },

  refusal: { script: [always(refusal("I will not."))] },

  "cut-at-the-limit": { script: [always(text("Too lo", { stopReason: "max_tokens" }))] },

  "interrupted-answer": {
    script: [stallMidStream("It begins"), text("Well again.")],
    drive: async (session) => {
      session.say("Go.");
      await session.until((output) => output.type === "delta" && output.delta.type === "event_delta");
      await session.conversation.interrupt();
      await session.ended();
      await session.turn("Again.");
    },
  },

  "interrupted-tool": {
    script: [reply([toolUse("Bash", { command: "tail -f /dev/null" }), toolUse("Bash", { command: "echo never" })])],
    drive: async (session) => {
      session.say("Go.");
      await session.until(isEvent("span.model_request_end"));
      await session.conversation.interrupt();
      await session.ended();
    },
  },

  steered: {
    script: [toolUse("Bash", { command: "until test -e go; do sleep 0.05; done" }), text("To the left, then.")],
    drive: async (session) => {
      session.say("Go.");
      await session.until(isEvent("span.model_request_end"));
      session.say("To the left!");
      writeFileSync(join(session.setup.folder, "go"), "");
      await session.ended();
    },
  },

  "steered-too-late": {
    script: [slowly(text("One two three four five six seven."), { tokenMs: 50 }), text("To the left, then.")],
    drive: async (session) => {
      session.say("Go.");
      await session.until((output) => output.type === "delta" && output.delta.type === "event_delta");
      session.say("To the left!");
      await session.ended();
      await session.ended();
    },
  },

  "background-shell": {
    script: [
      toolUse("Bash", { command: "until test -e go; do sleep 0.05; done; echo gone", run_in_background: true }),
      text("It runs."),
      text("It has ended."),
    ],
    drive: async (session) => {
      await session.turn("Go.");
      writeFileSync(join(session.setup.folder, "go"), "");
      await session.ended();
    },
  },

  "background-shell-stopped": {
    script: [toolUse("Bash", { command: "tail -f /dev/null", run_in_background: true }), text("It runs.")],
    drive: async (session) => {
      await session.turn("Go.");
      const tasks = session.outputs.findLast((output) => output.type === "background")?.tasks ?? [];
      await session.conversation.stopTask(tasks[0]!.id);
      await idle(session);
    },
  },

  "max-turns": { setup: { maxTurns: 1 }, script: [toolUse("Bash", { command: "echo on" })] },

  "model-fallback": {
    beyond: { options: { fallbackModel: "claude-haiku-5-5" } },
    script: [
      when((request) => request.model.includes("sonnet"), overloaded()),
      when((request) => request.model.includes("sonnet"), overloaded()),
      when((request) => request.model.includes("sonnet"), overloaded()),
      always(text("From another.")),
    ],
  },

  killed: {
    script: [toolUse("Bash", { command: "tail -f /dev/null" })],
    drive: async (session) => {
      session.say("Go.");
      await session.until(isEvent("span.model_request_end"));
      process.kill(session.conversation.pid!, "SIGKILL");
      await session.closed();
    },
  },
};
