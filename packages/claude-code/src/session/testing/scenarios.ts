import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Permission } from "@tandem/protocol";
import {
  always,
  creditTooLow,
  failMidStream,
  type ModelRequest,
  modelNotFound,
  overloaded,
  planLimit,
  redactedThinking,
  refusal,
  reply,
  type Script,
  slowly,
  stallMidStream,
  text,
  thinking,
  toolUse,
  when,
} from "@tandem/rehearsal";
import type { ConversationOutput } from "../conversation.ts";
import type { Recording } from "../open-conversation.ts";
import type { OpenSession, Overrides } from "./open-session.ts";

/** Something that Claude Code can go through: what the model says, what the session has, and what its user does. */
export interface Scenario {
  script: Script;
  setup?: Overrides;
  /** What the policy says, by the tool's name; what is not here is allowed. */
  decisions?: Record<string, Permission>;
  /** What no session asks for, to provoke messages that it may get all the same. */
  beyond?: Omit<Recording, "onInput">;
  /** Before the process starts. */
  prepare?: (folder: string) => void;
  /** One turn with the message "Go." unless it says otherwise. */
  drive?: (session: OpenSession) => Promise<unknown>;
}

const usage = (input_tokens: number, output_tokens: number) => ({ usage: { input_tokens, output_tokens } });
const isEvent = (type: string) => (output: ConversationOutput) => output.type === "event" && output.event.type === type;
const idle = (session: OpenSession) =>
  session.until((output) => output.type === "background" && output.tasks.length === 0);

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

const ASK = { type: "custom" as const, name: "ask", description: "Asks.", input_schema: { type: "object" as const } };
const ANSWER = { type: "object", properties: { answer: { type: "number" } }, required: ["answer"] };
/** One red pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

export const scenarios: Record<string, Scenario> = {
  text: { script: [text("Hello there.", usage(100, 20))] },

  "two-turns": {
    script: [text("First.", usage(100, 20)), text("Second.", usage(120, 30))],
    drive: async (session) => {
      await session.turn("One.");
      await session.turn("Two.");
    },
  },

  "thinking-and-tool": {
    script: [
      reply([
        thinking("I should look."),
        redactedThinking(),
        text("I look."),
        toolUse("Bash", { command: "echo found" }),
      ]),
      text("It is there."),
    ],
  },

  "parallel-tools": {
    prepare: (folder) => writeFileSync(join(folder, "note.txt"), "remember the milk\n"),
    script: [
      reply([
        toolUse("Read", { file_path: "note.txt" }),
        toolUse("Bash", { command: "echo one" }),
        toolUse("Bash", { command: "echo two" }),
      ]),
      text("Done."),
    ],
  },

  "tool-errors": {
    script: [
      reply([toolUse("Bash", { command: "echo oh no >&2; exit 3" }), toolUse("Edit", { file_path: "nowhere" })]),
      text("Pity."),
    ],
  },

  "file-changes": {
    prepare: (folder) => writeFileSync(join(folder, "old.txt"), "one\ntwo\nthree\n"),
    script: [
      toolUse("Write", { file_path: "new.txt", content: "fresh\n" }),
      toolUse("Read", { file_path: "old.txt" }),
      toolUse("Edit", { file_path: "old.txt", old_string: "two", new_string: "zwei" }),
      toolUse("Write", { file_path: "old.txt", content: "one\nzwei\ndrei\n" }),
      text("Changed."),
    ],
  },

  image: {
    prepare: (folder) => writeFileSync(join(folder, "pixel.png"), Buffer.from(PIXEL, "base64")),
    script: [toolUse("Read", { file_path: "pixel.png" }), text("It is red.")],
  },

  "mcp-tools": {
    setup: { mcpServers: [{ name: "eyes", url: "mcp:", timeoutMs: 5_000 }] },
    script: [
      reply([toolUse("mcp__eyes__look", { at: "the sky" }), toolUse("mcp__eyes__stumble", {})]),
      text("I have seen it."),
    ],
  },

  "mcp-failed": {
    setup: { mcpServers: [{ name: "eyes", url: "http://127.0.0.1:1/mcp", timeoutMs: 5_000 }] },
    script: [toolUse("mcp__eyes__look", {}), text("I am blind.")],
  },

  "custom-tools": {
    setup: {
      customTools: [ASK],
      host: {
        callCustomTool: async ({ input }) =>
          input["fail"]
            ? { content: [{ type: "text", text: "broken" }], isError: true }
            : {
                content: [
                  { type: "text", text: "forty-two" },
                  { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
                ],
                isError: false,
              },
      },
    },
    script: [
      reply([toolUse("mcp__tandem__ask", { n: 1 }), toolUse("mcp__tandem__ask", { fail: true })]),
      text("I see."),
    ],
  },

  "asked-and-allowed": {
    decisions: { Bash: "ask" },
    setup: { host: { confirm: async () => ({ allow: true }) } },
    script: [toolUse("Bash", { command: "echo yes" }), text("Thanks.")],
  },

  "asked-and-denied": {
    decisions: { Bash: "ask" },
    setup: { host: { confirm: async () => ({ allow: false, message: "Not now." }) } },
    script: [toolUse("Bash", { command: "echo no" }), text("As you wish.")],
  },

  "denied-and-not-offered": {
    decisions: { Write: "deny" },
    script: [
      reply([
        toolUse("Write", { file_path: "x", content: "x" }),
        toolUse("Grep", { pattern: "x" }),
        toolUse("Nonsense", {}),
        toolUse("mcp__nobody__run", {}),
      ]),
      text("I gave up."),
    ],
  },

  "outside-of-the-folder": {
    script: [toolUse("Read", { file_path: "/etc/hostname" }), text("Not mine.")],
  },

  "todo-write": {
    setup: { tools: ["TodoWrite"] },
    beyond: { variables: { CLAUDE_CODE_ENABLE_TASKS: "0" } },
    script: [
      toolUse("TodoWrite", {
        todos: [
          { content: "Look", status: "in_progress", activeForm: "Looking" },
          { content: "Leap", status: "pending", activeForm: "Leaping" },
        ],
      }),
      text("Planned."),
    ],
  },

  "task-list": {
    setup: { tools: ["TaskCreate", "TaskUpdate", "TaskList"] },
    script: [
      toolUse("TaskCreate", { subject: "Look", description: "Look well.", activeForm: "Looking" }),
      toolUse("TaskCreate", { subject: "Leap", description: "Leap far." }),
      toolUse("TaskUpdate", { taskId: "1", status: "completed" }),
      toolUse("TaskUpdate", { taskId: "2", status: "deleted" }),
      toolUse("TaskList", {}),
      text("Planned."),
    ],
  },

  plan: {
    setup: { tools: ["Read", "EnterPlanMode", "ExitPlanMode"] },
    script: [toolUse("EnterPlanMode", {}), toolUse("ExitPlanMode", {}), text("No plan.")],
  },

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

  "output-schema": {
    setup: { outputSchema: { $schema: "https://json-schema.org/draft/2020-12/schema", ...ANSWER } },
    script: [
      text("Forty-two."),
      toolUse("StructuredOutput", { answer: "forty-two" }),
      toolUse("StructuredOutput", { answer: 42 }),
    ],
  },

  "output-schema-ignored": {
    setup: { outputSchema: ANSWER },
    script: [text("Forty-two."), text("I said forty-two.")],
  },

  "max-turns": {
    setup: { maxTurns: 1 },
    script: [toolUse("Bash", { command: "echo on" })],
  },

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
