import type { LanguageModelV4ToolResultPart } from "@ai-sdk/provider";
import { orAborted } from "../../or-aborted.ts";
import type { Tool } from "../../tool.ts";
import type { ToolCall } from "./collect-answer.ts";

/** Runs a requested tool. Errors are reported to the model; only the caller's abort rejects. */
export async function runTool(
  tools: ReadonlyMap<string, Tool>,
  { id, name, input }: ToolCall,
  signal: AbortSignal,
): Promise<{ result: LanguageModelV4ToolResultPart; failed: boolean }> {
  let failed = false;
  let value: string;
  try {
    signal.throwIfAborted();
    const tool = tools.get(name);
    if (!tool) throw new Error(`There is no tool named "${name}".`);
    if (input === undefined) throw new Error("The input is not JSON.");
    value = (await orAborted(tool.execute(input, { signal }), signal)).markdown;
  } catch (error) {
    signal.throwIfAborted();
    failed = true;
    value = error instanceof Error ? error.message : String(error);
  }
  const output = { type: failed ? ("error-text" as const) : ("text" as const), value };
  return { result: { type: "tool-result", toolCallId: id, toolName: name, output }, failed };
}
