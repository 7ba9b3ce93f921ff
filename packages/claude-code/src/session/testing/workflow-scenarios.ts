import { fail, reply, slowly, text, toolUse, when, type ModelRequest } from "@tandem/rehearsal";
import type { Overrides } from "./open-session.ts";
import { isEvent, usage, type Scenario } from "./scenario.ts";

const isPlanner = (request: ModelRequest) => request.toolNames.includes("Workflow");
const isLeaf = (name: string) => (request: ModelRequest) =>
  !isPlanner(request) && JSON.stringify(request.messages).includes(`LEAF-${name}`);

const META = `export const meta = {
  name: "review",
  description: "Reviews two parts",
  phases: [{ title: "Scan" }, { title: "Judge" }],
};
`;

const workflow = (body: string) => toolUse("Workflow", { script: META + body }, usage(100, 10));

const withWorkflows: Overrides = {
  tools: ["Bash", "Workflow"],
  workflows: { inline: true, agents: [], excluded: [] },
};

/** Workflow runs: with a failed agent, with an object as result, stopped, with a broken plan. */
export const workflowScenarios: Record<string, Scenario> = {
  workflow: {
    setup: withWorkflows,
    script: [
      when(
        isPlanner,
        workflow(`phase("Scan");
const one = await agent("LEAF-ONE", { label: "part one" });
const [two] = await parallel([() => agent("LEAF-TWO", { label: "part two" })]);
phase("Judge");
const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
return { one, two, verdict: await agent("LEAF-JUDGE", { label: "judge", schema }) };`),
      ),
      when(isLeaf("ONE"), slowly(toolUse("Bash", { command: "echo one" }, usage(30, 7)), { firstByteMs: 1_000 })),
      when(isLeaf("ONE"), text("One is good.", usage(31, 8))),
      when(isLeaf("TWO"), fail(400, { message: "no such thing" })),
      when(isLeaf("JUDGE"), toolUse("StructuredOutput", { ok: true }, usage(40, 9))),
      when(isPlanner, text("It runs.", usage(110, 11))),
      when(isPlanner, text("It has ended.", usage(120, 12))),
    ],
    drive: async (session) => {
      await session.turn("Go.");
      await session.ended();
    },
  },

  "workflow-stopped": {
    setup: withWorkflows,
    script: [
      when(isPlanner, workflow(`phase("Scan"); return await agent("LEAF-ONE", { label: "part one" });`)),
      when(isLeaf("ONE"), slowly(text("Too late."), { firstByteMs: 60_000 })),
      when(isPlanner, text("It runs.")),
    ],
    drive: async (session) => {
      await session.turn("Go.");
      if (session.events("session.thread_created").length === 0) await session.until(isEvent("session.thread_created"));
      const tasks = session.outputs.findLast((output) => output.type === "background")?.tasks ?? [];
      await session.conversation.stopTask(tasks[0]!.id);
      await session.until(isEvent("workflow_run.status_ended"));
    },
  },

  "workflow-fails": {
    setup: withWorkflows,
    script: [
      when(isPlanner, workflow(`throw new Error("the plan broke");`)),
      when(isPlanner, reply([text("It runs.")])),
      when(isPlanner, text("It has failed.")),
    ],
    drive: async (session) => {
      session.say("Go.");
      await session.until(isEvent("workflow_run.status_ended"));
      await session.ended();
    },
  },
};
