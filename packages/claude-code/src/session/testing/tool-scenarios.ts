import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { redactedThinking, reply, text, thinking, toolUse } from "@tandem/rehearsal";
import { type Scenario } from "./scenario.ts";

const ASK = { type: "custom" as const, name: "ask", description: "Asks.", input_schema: { type: "object" as const } };
const ANSWER = { type: "object", properties: { answer: { type: "number" } }, required: ["answer"] };
/** One red pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** Tools of all kinds: input, permission and result. */
export const toolScenarios: Record<string, Scenario> = {
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
    script: [toolUse("Bash", { command: "echo no" }), text("As you options.")],
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

  "outside-of-the-folder": { script: [toolUse("Read", { file_path: "/etc/hostname" }), text("Not mine.")] },

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

  "output-schema": {
    setup: { outputSchema: { $schema: "https://json-schema.org/draft/2020-12/schema", ...ANSWER } },
    script: [
      text("Forty-two."),
      toolUse("StructuredOutput", { answer: "forty-two" }),
      toolUse("StructuredOutput", { answer: 42 }),
    ],
  },

  "output-schema-ignored": { setup: { outputSchema: ANSWER }, script: [text("Forty-two."), text("I said forty-two.")] },
};
