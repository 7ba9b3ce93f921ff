import { creditTooLow, reply, slowly, text, thinking, toolUse, when, type ModelRequest } from "@tandem/rehearsal";
import type { Overrides } from "./open-session.ts";
import { usage, type Scenario } from "./scenario.ts";

const REVIEWER = { name: "reviewer", description: "Reviews.", system: "SUBAGENT-REVIEWER", tools: ["Bash"] };
const DEEPER = { name: "deeper", description: "Goes deeper.", system: "SUBAGENT-DEEPER", tools: ["Bash"] };
const isFor = (name: string) => (request: ModelRequest) => request.system.includes(`SUBAGENT-${name}`);
const isMain = (request: ModelRequest) => !request.system.includes("SUBAGENT-");
const delegate = (prompt: string, extra: object = {}) =>
  toolUse("Agent", {
    description: `${prompt} task`,
    prompt,
    subagent_type: "reviewer",
    run_in_background: false,
    ...extra,
  });
const withSubagents: Overrides = {
  tools: ["Agent", "SendMessage", "Bash"],
  subagents: [REVIEWER, { ...DEEPER, model: "haiku" }],
};

/** Subagents: single, parallel, nested, in the background, resumed and failed. */
export const subagentScenarios: Record<string, Scenario> = {
  "subagent-foreground": {
    setup: withSubagents,
    script: [
      when(isMain, reply([text("I delegate."), delegate("Review")], usage(100, 10))),
      when(
        isFor("REVIEWER"),
        reply([thinking("hm"), text("I review."), toolUse("Bash", { command: "echo reviewed" })], usage(30, 7)),
      ),
      when(isFor("REVIEWER"), text("It is good.", usage(40, 8))),
      text("They say it is good.", usage(110, 11)),
    ],
  },

  "subagents-side-by-side": {
    setup: withSubagents,
    script: [
      when(isMain, reply([delegate("Review"), delegate("Dig", { subagent_type: "deeper" })], usage(100, 10))),
      when(isFor("REVIEWER"), slowly(toolUse("Bash", { command: "echo reviewed" }, usage(30, 7)), { firstByteMs: 50 })),
      when(isFor("DEEPER"), toolUse("Bash", { command: "echo dug" }, usage(20, 5))),
      when(isFor("REVIEWER"), text("Good.", usage(31, 8))),
      when(isFor("DEEPER"), slowly(text("Deep.", usage(21, 6)), { firstByteMs: 150 })),
      text("Both are done.", usage(110, 11)),
    ],
  },

  "subagent-nested": {
    setup: { ...withSubagents, subagents: [{ ...REVIEWER, tools: ["Agent", "Bash"] }, DEEPER] },
    script: [
      when(isMain, delegate("Review")),
      when(isFor("REVIEWER"), delegate("Dig", { subagent_type: "deeper" })),
      when(isFor("DEEPER"), toolUse("Bash", { command: "echo dug" })),
      when(isFor("DEEPER"), text("Deep.")),
      when(isFor("REVIEWER"), text("Deep, they say.")),
      text("So be it."),
    ],
  },

  "subagent-background": {
    setup: withSubagents,
    script: [
      when(isMain, delegate("Review", { run_in_background: true })),
      when(isMain, text("It is on its way.")),
      when(isFor("REVIEWER"), slowly(toolUse("Bash", { command: "echo reviewed" }), { firstByteMs: 400 })),
      when(isFor("REVIEWER"), text("It is good.")),
      text("It came back."),
    ],
    drive: async (session) => {
      await session.turn("Go.");
      await session.ended();
    },
  },

  "subagent-resumed": {
    setup: withSubagents,
    script: [
      when(isMain, delegate("Review")),
      when(isFor("REVIEWER"), text("It is good.")),
      when(isMain, (request) =>
        toolUse("SendMessage", {
          to: /agentId: ?(\w+)/.exec(JSON.stringify(request.messages))?.[1],
          summary: "look again",
          message: "Look again.",
        }),
      ),
      when(isMain, text("I asked again.")),
      when(isFor("REVIEWER"), slowly(text("Still good."), { firstByteMs: 300 })),
      text("Still good, then."),
    ],
    drive: async (session) => {
      await session.turn("Go.");
      await session.ended();
    },
  },

  "subagent-denied": {
    setup: withSubagents,
    decisions: { Agent: "deny" },
    script: [delegate("Review"), text("Alone, then.")],
  },

  "subagent-fails": {
    setup: withSubagents,
    script: [when(isMain, delegate("Review")), when(isFor("REVIEWER"), creditTooLow()), text("They failed.")],
  },

  "interrupted-subagent": {
    setup: withSubagents,
    script: [when(isMain, delegate("Review")), toolUse("Bash", { command: "tail -f /dev/null" })],
    drive: async (session) => {
      session.say("Go.");
      await session.until(
        (output) => output.type === "event" && output.thread !== null && output.event.type === "agent.tool_use",
      );
      await session.conversation.interrupt();
      await session.ended();
    },
  },
};
