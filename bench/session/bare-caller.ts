// A helper: the bare Agent SDK. Every word of its owner is one `query()`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { query, type Options, type PermissionResult } from "@anthropic-ai/claude-agent-sdk";
import { findExecutable } from "@tandem/claude-code";
import { z } from "zod";
import { childVariables, MODEL } from "../runtime/contender.ts";
import { helperTask, say } from "../server/helper.ts";
import { askForCall, startOf, type ToolName } from "./tool-call.ts";

const task = helperTask(z.object({ url: z.string(), folder: z.string() }));
const project = join(task.folder, "bare-project");
mkdirSync(project);
const options: Options = {
  cwd: project,
  env: childVariables({ ...task, concurrency: 1 }),
  pathToClaudeCodeExecutable: findExecutable(),
  model: MODEL,
  settingSources: [],
};
/** The conversation of the last call. */
let last: string | undefined;
const WORK: Record<string, () => Promise<object>> = {
  call: () => call(),
  resume: () => call(last),
  "bash by canUseTool": () => approve("bash", byPermission),
  "bash by hook": () => approve("bash", byHook),
  "write by canUseTool": () => approve("write", byPermission),
  "write by hook": () => approve("write", byHook),
};
process.on("message", (word) => {
  WORK[String(word)]!().then(say, (error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});

async function call(resume?: string): Promise<object> {
  const from = performance.now();
  let firstMs: number | undefined;
  for await (const message of query({ prompt: "Hello.", options: { ...options, ...(resume && { resume }) } })) {
    if (message.type === "assistant") firstMs ??= performance.now() - from;
    if (message.type === "result" && message.is_error) throw new Error(JSON.stringify(message));
    last = message.session_id;
  }
  return { firstMs, wholeMs: performance.now() - from };
}

/** Options under which a call is allowed; `allowing` is called right before. */
type Allow = (allowing: () => void) => Pick<Options, "canUseTool" | "hooks">;

const byPermission: Allow = (allowing) => ({
  canUseTool: async (_, updatedInput): Promise<PermissionResult> => {
    allowing();
    return { behavior: "allow", updatedInput };
  },
});

/** Claude Code checks the call once more after the hook, before it runs. */
const byHook: Allow = (allowing) => ({
  hooks: {
    PreToolUse: [
      {
        hooks: [
          async () => {
            allowing();
            return { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow" } };
          },
        ],
      },
    ],
  },
});

async function approve(tool: ToolName, allow: Allow): Promise<object> {
  const { prompt, effect } = askForCall(tool, project);
  let allowedAt = 0;
  const allowing = (): void => void (allowedAt = Date.now());
  for await (const message of query({ prompt, options: { ...options, ...allow(allowing) } })) {
    if (message.type === "result" && message.is_error) throw new Error(JSON.stringify(message));
  }
  return { runningMs: startOf(effect) - allowedAt };
}
