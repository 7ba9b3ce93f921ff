// A helper: the bare Agent SDK. Every word of its owner is one `query()`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { query, type Options, type PermissionResult } from "@anthropic-ai/claude-agent-sdk";
import { findExecutable } from "@tandem/claude-code";
import { z } from "zod";
import { childVariables, MODEL } from "../runtime/contender.ts";
import { helperTask, say } from "../server/helper.ts";
import { askForCall, startOf } from "./tool-call.ts";

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
  bash: () => approve("bash"),
  write: () => approve("write"),
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

async function approve(tool: "bash" | "write"): Promise<object> {
  const { prompt, effect } = askForCall(tool, project);
  let allowedAt = 0;
  const canUseTool = async (_: string, updatedInput: Record<string, unknown>): Promise<PermissionResult> => {
    allowedAt = Date.now();
    return { behavior: "allow", updatedInput };
  };
  for await (const message of query({ prompt, options: { ...options, canUseTool } })) {
    if (message.type === "result" && message.is_error) throw new Error(JSON.stringify(message));
  }
  return { runningMs: startOf(effect) - allowedAt };
}
