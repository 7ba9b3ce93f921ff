import { type LlmConfig, LlmError, parseJson } from "@tandem/protocol";
import type {
  JSONSchema7,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import { z } from "zod";
import type {
  BackendCall,
  BackendLoopCall,
  BackendObjectCall,
  BackendTextCall,
  LlmBackend,
  LoopAnswer,
} from "../../llm-backend.ts";
import type { Tool } from "../../tool.ts";
import { asLlmError } from "./as-llm-error.ts";
import { type Ask, createAsk } from "./create-ask.ts";
import { type CacheMarks, cacheMarks } from "./cache-marks.ts";
import type { ModelAnswer, ToolCall } from "./collect-answer.ts";
import { underDeadlines } from "./deadlines.ts";
import type { Provider } from "./provider.ts";
import { orAborted } from "../../or-aborted.ts";

type Settings = Pick<LlmConfig, "promptCaching" | "limits">;

/** Claude through an AI SDK provider. We own the conversation, so every model request is one attempt. */
export function createAiSdkBackend(provider: Provider, { promptCaching, limits }: Settings): LlmBackend {
  const askFor = async (call: BackendCall): Promise<Ask> =>
    createAsk(await provider.languageModel(call.model), call, limits);
  const marksFor = (tools: readonly Tool[]) =>
    cacheMarks(promptCaching, { onVertex: provider.name === "vertex", hasTools: tools.length > 0 });

  return {
    name: provider.name,
    payer: provider.payer,

    async text(call) {
      const marks = marksFor(call.tools);
      const answer = await converse(call, await askFor(call), openingOf(call, marks), marks);
      if (!answer) throw new LlmError("empty_answer", spentOnTools(call));
      if (answer.text.trim() === "") throw new LlmError("empty_answer", "The model answered with nothing.");
      return answer.text;
    },

    async object(call: BackendObjectCall) {
      const marks = marksFor(call.tools);
      const prompt = openingOf(call, marks);
      const responseFormat = { type: "json", schema: call.jsonSchema as JSONSchema7 } as const;
      const ask = await askFor(call);
      const request: Ask = (options) => ask({ ...options, responseFormat });
      const first = await converse(call, request, prompt, marks);
      if (!first) throw new LlmError("structured_output", spentOnTools(call));
      const value = parseJson(first.text);
      const violations = violationsOf(value, call);
      if (violations === undefined) return value;
      const repair = `That answer does not fit: ${violations}\nGive the whole corrected answer.`;
      if (first.content.length > 0) prompt.push({ role: "assistant", content: first.content });
      prompt.push({ role: "user", content: [{ type: "text", text: repair }] });
      const second = await converse(call, request, prompt, marks);
      const repaired = second && parseJson(second.text);
      const remaining = violationsOf(repaired, call);
      if (remaining === undefined) return repaired;
      throw new LlmError("structured_output", `The model gave no answer that fits the schema: ${remaining}`);
    },

    async loop(call: BackendLoopCall): Promise<LoopAnswer> {
      const { signal, stepBudget } = call;
      const ask = await askFor(call);
      const marks = marksFor(call.tools);
      const prompt = openingOf(call, marks);
      const tools = offer(call.tools, marks);
      let text = "";
      for (let stepIndex = 1; stepIndex <= stepBudget; stepIndex += 1) {
        const answer = await ask({ prompt: markLast(prompt, marks), ...tools });
        const toolFailures = await runTools(answer, call.tools, prompt, signal);
        text = answer.text.trim() === "" ? text : answer.text;
        const toolCalls = answer.toolCalls.map(({ name }) => name);
        await call.onStepFinish({ stepIndex, stepBudget, toolCalls, toolFailures });
        if (toolCalls.length === 0) return { stopReason: "natural", text };
      }
      return { stopReason: "budget", text };
    },

    async listModels(signal) {
      try {
        return await underDeadlines(limits, signal, (signal) => provider.listModels(signal));
      } catch (error) {
        throw asLlmError(error, signal);
      }
    },

    close: async () => undefined,
  };
}

/** Asks until the model answers without calling tools. Undefined if the step budget ended first. */
async function converse(
  { tools, stepBudget, signal }: BackendTextCall,
  ask: Ask,
  prompt: LanguageModelV4Prompt,
  marks: CacheMarks,
): Promise<ModelAnswer | undefined> {
  const offered = offer(tools, marks);
  for (let step = 1; step <= stepBudget; step += 1) {
    const answer = await ask({ prompt: markLast(prompt, marks), ...offered });
    if (tools.length === 0 || answer.toolCalls.length === 0) return answer;
    await runTools(answer, tools, prompt, signal);
  }
  return undefined;
}

const spentOnTools = ({ stepBudget }: BackendTextCall): string =>
  `The model spent its step budget of ${stepBudget} on tools and gave no answer.`;

/** Runs the tools of an answer and adds both to the prompt. Returns the number of failed calls. */
async function runTools(
  answer: ModelAnswer,
  tools: readonly Tool[],
  prompt: LanguageModelV4Prompt,
  signal: AbortSignal,
): Promise<number> {
  if (answer.toolCalls.length === 0) return 0;
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const runs = await Promise.all(answer.toolCalls.map((toolCall) => runTool(byName, toolCall, signal)));
  prompt.push({ role: "assistant", content: answer.content });
  prompt.push({ role: "tool", content: runs.map(({ result }) => result) });
  return runs.filter(({ failed }) => failed).length;
}

function openingOf({ system, prompt }: BackendCall, marks: CacheMarks): LanguageModelV4Prompt {
  return [
    ...(system === undefined ? [] : [{ role: "system" as const, content: system, providerOptions: marks.system }]),
    { role: "user", content: [{ type: "text", text: prompt }] },
  ];
}

/** Marks the end of the conversation, so that the next request reads it from the cache. */
function markLast(prompt: LanguageModelV4Prompt, { history }: CacheMarks): LanguageModelV4Prompt {
  return prompt.map((message, index): LanguageModelV4Message =>
    index === prompt.length - 1 && history ? { ...message, providerOptions: history } : message,
  );
}

const offer = (tools: readonly Tool[], marks: CacheMarks) =>
  tools.length > 0 ? { tools: describeTools(tools, marks) } : {};

/** Sorted, so that equal sets of tools give the same cache prefix. */
function describeTools(tools: readonly Tool[], marks: CacheMarks): LanguageModelV4FunctionTool[] {
  const described = tools
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, description, schema }): LanguageModelV4FunctionTool => {
      const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, { target: "draft-7", io: "input" });
      return { type: "function", name, description, inputSchema: inputSchema as JSONSchema7 };
    });
  const last = described.at(-1);
  if (last && marks.tools) last.providerOptions = marks.tools;
  return described;
}

const violationsOf = (value: unknown, call: BackendObjectCall): string | undefined =>
  value === undefined ? "it is not JSON." : call.check(value);

/** Runs a requested tool. Errors are reported to the model; only the caller's abort rejects. */
async function runTool(
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
