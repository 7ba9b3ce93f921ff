import type {
  JSONSchema7,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from "@ai-sdk/provider";
import type { LlmConfig } from "@tandem/protocol";
import { LlmError } from "@tandem/protocol";
import { z } from "zod";
import type { BackendCall, BackendLoopCall, BackendObjectCall, LlmBackend, LoopAnswer } from "../../llm-backend.ts";
import type { Tool } from "../../tool.ts";
import { asLlmError } from "./as-llm-error.ts";
import { createAsk } from "./ask-model.ts";
import { type CacheMarks, cacheMarks } from "./cache-marks.ts";
import { parseJson } from "./collect-answer.ts";
import { underDeadlines } from "./deadlines.ts";
import type { Provider } from "./provider.ts";
import { runTool } from "./run-tool.ts";

type Settings = Pick<LlmConfig, "promptCaching" | "limits">;

/** Claude through an AI SDK provider. We own the conversation, so every model request is one attempt. */
export function createAiSdkBackend(provider: Provider, { promptCaching, limits }: Settings): LlmBackend {
  const askFor = (call: BackendCall) => createAsk(provider.languageModel(call.model), call, limits);
  const marksFor = (tools: readonly Tool[]) =>
    cacheMarks(promptCaching, { onVertex: provider.name === "vertex", hasTools: tools.length > 0 });

  return {
    name: provider.name,
    payer: provider.payer,

    async text(call) {
      const { text } = await askFor(call)({ prompt: openingOf(call, marksFor([])) });
      if (text.trim() === "") throw new LlmError("empty_answer", "The model answered with nothing.");
      return text;
    },

    async object(call: BackendObjectCall) {
      const ask = askFor(call);
      const prompt = openingOf(call, marksFor([]));
      const responseFormat = { type: "json", schema: call.jsonSchema as JSONSchema7 } as const;
      const first = await ask({ prompt, responseFormat });
      const value = parseJson(first.text);
      const violations = violationsOf(value, call);
      if (violations === undefined) return value;
      const repair = `That answer does not fit: ${violations}\nGive the whole corrected answer.`;
      if (first.content.length > 0) prompt.push({ role: "assistant", content: first.content });
      prompt.push({ role: "user", content: [{ type: "text", text: repair }] });
      const repaired = parseJson((await ask({ prompt, responseFormat })).text);
      const remaining = violationsOf(repaired, call);
      if (remaining === undefined) return repaired;
      throw new LlmError("structured_output", `The model gave no answer that fits the schema: ${remaining}`);
    },

    async loop(call: BackendLoopCall): Promise<LoopAnswer> {
      const { signal, stepBudget } = call;
      const ask = askFor(call);
      const byName = new Map(call.tools.map((tool) => [tool.name, tool]));
      const marks = marksFor(call.tools);
      const tools = describeTools(call.tools, marks);
      const prompt = openingOf(call, marks);
      let text = "";
      for (let stepIndex = 1; stepIndex <= stepBudget; stepIndex += 1) {
        const answer = await ask({ prompt: markLast(prompt, marks), ...(tools.length > 0 && { tools }) });
        const runs = await Promise.all(answer.toolCalls.map((toolCall) => runTool(byName, toolCall, signal)));
        text = answer.text.trim() === "" ? text : answer.text;
        const toolCalls = answer.toolCalls.map(({ name }) => name);
        const toolFailures = runs.filter(({ failed }) => failed).length;
        await call.onStepFinish({ stepIndex, stepBudget, toolCalls, toolFailures });
        if (runs.length === 0) return { stopReason: "natural", text };
        prompt.push({ role: "assistant", content: answer.content });
        prompt.push({ role: "tool", content: runs.map(({ result }) => result) });
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
