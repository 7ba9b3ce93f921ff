import type { DescribeDenial, RunBuiltinTool } from "@tandem/claude-code/emulated";
import {
  QUESTION_TOOL,
  type CassetteBlock,
  type CassetteInput,
  type CassetteStep,
  type CassetteStepOf,
} from "@tandem/protocol";
import {
  cutConnection,
  fail,
  stallBeforeFirstByte,
  stallMidStream,
  type ModelRequest,
  type Reply,
} from "@tandem/rehearsal";
import type { GradeOutcome } from "@tandem/sessions";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { backgroundTaskOf } from "./background-task-of.ts";
import { isRequest, RecordedOwnSteps } from "./recorded-own-steps.ts";
import { RecordedVerdicts } from "./recorded-verdicts.ts";

type ModelStep = CassetteStepOf<"model">;
type Call = CassetteStepOf<"call">;

interface RecordedResult {
  content: readonly CassetteBlock[];
  isError: boolean;
}

/** A tool result as a request has it. */
interface SentResult {
  text: string;
  isError: boolean;
}

/**
 * Plays the model, and without a process the tools, of a recorded run. An answer or a result is given only after the inputs
 * that came before it.
 */
export class RecordedRun {
  readonly ownSteps: RecordedOwnSteps;
  readonly #verdicts: RecordedVerdicts;
  readonly #steps: readonly CassetteStep[];
  readonly #models: readonly ModelStep[];
  readonly #calls: ReadonlyMap<string, Call>;
  readonly #sent = new Set<number>();
  readonly #started = new Set<string>();
  /** The tool results of the requests so far, by thread. */
  readonly #requests = new Map<string | undefined, Map<string, SentResult>[]>();
  /** Answers and results that wait for an input. */
  #blocked = 0;
  #received = 0;
  #streamed = 0;
  #changed = Promise.withResolvers<void>();

  constructor(steps: readonly CassetteStep[]) {
    this.#steps = steps;
    this.#models = steps.filter(isRequest);
    this.ownSteps = new RecordedOwnSteps(steps, () => this.requestsOf(undefined).length);
    this.#verdicts = new RecordedVerdicts(steps, () => this.#notify());
    this.#calls = new Map(steps.flatMap((step) => (step.kind === "call" ? [[step.id, step]] : [])));
  }

  /** Resolves at the next request, start of a tool, or input. */
  get changed(): Promise<void> {
    return this.#changed.promise;
  }

  /** The tool results that each request of a thread had, by call. */
  requestsOf(thread: string | undefined): readonly ReadonlyMap<string, SentResult>[] {
    return this.#requests.get(thread) ?? [];
  }

  /** The next request has a recorded answer. */
  get hasAnswer(): boolean {
    const requests = [...this.#requests.values()].reduce((sum, each) => sum + each.length, 0);
    return requests < this.#models.length;
  }

  /** An answer or a result waits for an input. */
  get isBlocked(): boolean {
    return this.#blocked > 0;
  }

  hasCall(call: string): boolean {
    return this.#calls.has(call);
  }

  hasStarted(call: string): boolean {
    return this.#started.has(call);
  }

  /** The input was accepted. */
  inputSent(step: number): void {
    this.#sent.add(step);
    this.#notify();
  }

  /** The conversation got a message. */
  messageReceived(): void {
    this.#received += 1;
    this.#notify();
  }

  /** The model's answer grows by this many characters. */
  textStreamed(characters: number): void {
    this.#streamed += characters;
    this.#notify();
  }

  /** How many characters of the present answer have arrived. */
  get streamed(): number {
    return this.#streamed;
  }

  /** The recorded verdict on an outcome. */
  readonly gradeOutcome: GradeOutcome = (task, control) => this.#verdicts.give(task, control);

  get isGrading(): boolean {
    return this.#verdicts.isGrading;
  }

  /** A script of the rehearsal. More requests than recorded get no reply. */
  readonly script = async (request: ModelRequest): Promise<Reply | undefined> => {
    const thread = this.#threadOf(request);
    const summary = thread === undefined && isSummaryRequest(request) ? this.ownSteps.summary() : undefined;
    if (summary?.type === "message") return summaryOf(summary);
    const requests = this.#requests.get(thread) ?? [];
    const step = this.#models.filter((each) => each.thread === thread)[requests.length];
    const results = request.toolResults.map(({ toolUseId, text, isError }) => [toolUseId, { text, isError }] as const);
    this.#requests.set(thread, [...requests, new Map(results)]);
    this.#streamed = 0;
    this.#notify();
    if (!step) return undefined;
    const messages = this.#inputsOf(step).filter(({ event, during }) => isMessage(event) && during === "answer");
    if (messages.length > 0) await this.#untilReceived(messages.at(-1)!.step);
    return replyOf(step, request);
  };

  /** A subagent's request has its own calls, or at first the prompt of the call that started it. */
  #threadOf({ messages, lastUserText }: ModelRequest): string | undefined {
    const uses = messages.flatMap(({ role, content }) => (role === "assistant" ? content : []));
    const last = uses.findLast(({ type, id }) => type === "tool_use" && this.#calls.has(String(id)));
    if (last) return this.#calls.get(String(last["id"]))?.thread;
    if (uses.length > 0) return undefined;
    const threads = new Set(this.#models.flatMap(({ thread }) => thread ?? []));
    return [...threads].find(
      (thread) => !this.#requests.has(thread) && this.#calls.get(thread)?.input["prompt"] === lastUserText,
    );
  }

  readonly runBuiltinTool: RunBuiltinTool = async ({ id, runSubagent, startTask }) => {
    const call = this.#calls.get(id);
    const task = call && backgroundTaskOf(call);
    if (task) {
      startTask(task);
      return this.#resultOf(id);
    }
    if (this.#models.some(({ thread }) => thread === id)) {
      this.#started.add(id);
      await runSubagent();
    }
    return this.#resultOf(id);
  };

  async #resultOf(id: string): Promise<RecordedResult> {
    this.#started.add(id);
    this.#notify();
    const call = this.#calls.get(id);
    // Until the turn is interrupted.
    if (!call?.result || call.result.interrupted !== undefined) return new Promise<never>(() => undefined);
    await this.#until(() => this.#inputsBefore(call).every(({ step }) => this.#sent.has(step)));
    await this.#untilReceived(call.step);
    return { content: call.result.content, isError: call.result.is_error };
  }

  /** The tools of MCP servers that the run called, by server. */
  get mcpTools(): ReadonlyMap<string, readonly Call[]> {
    return Map.groupBy(
      [...this.#calls.values()].filter(({ server }) => server !== undefined),
      ({ server }) => server!,
    );
  }

  /** An MCP server does not learn the model's id of a call, so that the next call with this input counts. */
  async callMcpTool(server: string, tool: string, input: Record<string, unknown>): Promise<RecordedResult> {
    const call = this.mcpTools
      .get(server)
      ?.find((each) => each.tool === tool && !this.#started.has(each.id) && isDeepStrictEqual(each.input, input));
    if (!call)
      return { content: [{ type: "text", text: `${tool} was not called so in the recorded run.` }], isError: true };
    return this.#resultOf(call.id);
  }

  readonly describeDenial: DescribeDenial = ({ id }, reason) => {
    const [block] = this.#calls.get(id)?.result?.content ?? [];
    const text = typeof block?.["text"] === "string" ? block["text"] : "";
    // Claude Code answers calls of tools that it does not have by itself.
    return text.startsWith("<tool_use_error>") ? text : reason;
  };

  /** The inputs between a model request and the next. */
  #inputsOf(model: ModelStep): CassetteStepOf<"input">[] {
    const rest = this.#steps.slice(model.step);
    const end = rest.findIndex(({ kind }) => kind === "model" || kind === "idle");
    return rest.slice(0, end === -1 ? undefined : end).filter((step) => step.kind === "input");
  }

  #inputsBefore(call: Call): CassetteStepOf<"input">[] {
    const model = this.#models.findLast(({ step }) => step < call.step);
    const inputs = model ? this.#inputsOf(model) : [];
    return inputs.filter(({ event, after = [] }) => !isMessage(event) && !after.includes(call.id));
  }

  /** Waits for the messages before a step. A message that steers a turn is logged late, so that its place says little. */
  #untilReceived(step: number): Promise<void> {
    const messages = this.#steps.filter((each) => each.kind === "input" && each.step <= step && isPrompt(each.event));
    return this.#until(() => this.#received >= messages.length);
  }

  async #until(isTrue: () => boolean): Promise<void> {
    this.#blocked += 1;
    while (!isTrue()) await this.#changed.promise;
    this.#blocked -= 1;
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

const isMessage = ({ type }: CassetteInput): boolean => type === "user.message";

/** The conversation gets a message because of it. */
export const isPrompt = (event: CassetteInput): boolean =>
  isMessage(event) ||
  event.type === "user.define_outcome" ||
  (event.type === "span.outcome_evaluation_end" &&
    (event.result === "needs_revision" || event.result === "max_iterations_reached"));

/** Claude Code asks for a summary of the conversation. */
const isSummaryRequest = ({ lastUserText }: ModelRequest): boolean => lastUserText.startsWith("CRITICAL");

const summaryOf = ({ usage, model }: { usage: Usage; model: string | null }): Reply => ({
  type: "message",
  content: [{ type: "text", text: "<summary>A summary that the recording does not have.</summary>" }],
  options: { usage: usageOf(usage), ...(model !== null && { model }) },
});

const textBlock = z.object({ type: z.literal("text"), text: z.string() });
const replyBlock = z.discriminatedUnion("type", [
  textBlock,
  z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
  z.object({ type: z.literal("redacted_thinking"), data: z.string() }),
  z.object({
    type: z.literal("tool_use"),
    id: z.string(),
    name: z.string(),
    server: z.string().optional(),
    input: z.record(z.string(), z.unknown()),
  }),
]);
const stopReason = z.enum(["end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"]);

function replyOf({ answer }: ModelStep, request: ModelRequest): Reply {
  switch (answer?.type) {
    case undefined:
      return stallBeforeFirstByte();
    case "interrupted": {
      const text = answer.content.map((block) => textBlock.safeParse(block).data?.text ?? "").join("");
      return text === "" ? stallBeforeFirstByte() : stallMidStream(text);
    }
    case "error": {
      if (answer.status === null && answer.retried) return cutConnection();
      const status = answer.status ?? STATUS_OF[answer.reason] ?? 500;
      return fail(status, answer.retried ? {} : { headers: { "x-should-retry": "false" } });
    }
    case "message": {
      return {
        type: "message",
        content: answer.content.map((block) => wireBlock(block, request)),
        options: {
          usage: usageOf(answer.usage),
          stopReason: stopReason.parse(answer.stop_reason),
          ...(answer.model !== null && { model: answer.model }),
        },
      };
    }
  }
}

type Usage = Extract<NonNullable<ModelStep["answer"]>, { type: "message" }>["usage"];

function usageOf({ cache_write_5m_tokens: short, cache_write_1h_tokens: long, ...usage }: Usage) {
  const cache = { ephemeral_5m_input_tokens: short ?? 0, ephemeral_1h_input_tokens: long ?? 0 };
  return { ...usage, ...((short ?? long) !== undefined && { cache_creation: cache }) };
}

/** Statuses that lead to the error of a session. */
const STATUS_OF: Readonly<Record<string, number>> = {
  model_overloaded_error: 529,
  model_rate_limited_error: 429,
  billing_error: 402,
};

function wireBlock(block: CassetteBlock, { toolNames }: ModelRequest) {
  const parsed = replyBlock.parse(block);
  if (parsed.type !== "tool_use") return parsed;
  const { server, ...rest } = parsed;
  if (server !== undefined) return { ...rest, name: `mcp__${server}__${rest.name}` };
  if (rest.name === QUESTION_TOOL) return { ...rest, name: "AskUserQuestion" };
  if (toolNames.includes(rest.name)) return rest;
  // Custom tools are on a server of our own.
  const wire = toolNames.find((name) => name.startsWith("mcp__") && name.endsWith(`__${rest.name}`));
  return { ...rest, name: wire ?? rest.name };
}
