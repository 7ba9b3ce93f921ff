import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { LlmError, type Payer, type Usage } from "@tandem/protocol";
import { z } from "zod";
import { ClaudeProcess, type ListedModel, type ProcessFixture } from "./claude-process.ts";
import { payerOf, type Credential } from "../credential.ts";
import { findExecutable } from "../executable.ts";
import { toolId } from "../isolation.ts";
import type { Effort } from "../isolation.ts";
import { ProcessLedger } from "../processes/process-ledger.ts";
import type { PoolLimit } from "../process-slots.ts";
import { ProcessPool, type Lease, type PoolSettings } from "./process-pool.ts";
import { MAX_RESULT_LENGTH, type ToolCall, type ToolDefinition } from "../tool-server.ts";
import type { Turn, TurnSetup } from "./turn-setup.ts";
import type { TurnOutcome } from "./turn-reader.ts";
import type { Deadlines } from "./running-turn.ts";
import { childVariables, dropForeignVariables } from "../variables.ts";

export interface ClaudeCodeSettings {
  credential: Credential;
  /** Holds the ledger, the neutral folder and private Claude Code state; shared by all hosts of this user. */
  stateFolder: string;
  /** Source of the child's allowed variables, usually `process.env`. */
  hostVariables: Readonly<Record<string, string | undefined>>;
  executable?: string;
  /** Thinking effort; the default is the model's own in Claude Code. */
  effort?: Effort;
  pool: PoolSettings;
  /** A limit on processes that other pools share. */
  limit?: PoolLimit;
  deadlines: Deadlines;
}

export interface ClaudeCall {
  model: string;
  system: string | undefined;
  prompt: string;
  signal: AbortSignal;
  /** Runs a retryable operation with its attempt number, starting at 1. */
  attempt: <T>(operation: (attempt: number) => Promise<T>) => Promise<T>;
  onUsage: (model: string, usage: Usage) => void;
}

export interface ClaudeTextCall extends ClaudeCall {
  /** Tools that the model may call before its answer. */
  tools?: readonly ClaudeTool[];
  /** Maximum number of model requests, if there are tools. */
  stepBudget?: number;
}

export interface ClaudeObjectCall extends ClaudeTextCall {
  jsonSchema: Record<string, unknown>;
  check: (value: unknown) => string | undefined;
}

interface ClaudeTool {
  name: string;
  description: string;
  schema: z.ZodObject;
  execute(input: unknown, context: { signal: AbortSignal }): Promise<{ markdown: string }>;
}

export interface ClaudeLoopCall extends ClaudeCall {
  tools: readonly ClaudeTool[];
  stepBudget: number;
  onStepFinish: (step: {
    stepIndex: number;
    stepBudget: number;
    toolCalls: readonly string[];
    toolFailures: number;
  }) => Promise<void>;
}

export interface ClaudeLoopAnswer {
  stopReason: "natural" | "budget";
  text: string;
}

/** Prompt that continues a turn after a transient failure. */
const CONTINUE = "The connection failed. Continue where you stopped.";

const LOGIN_ERRORS: ReadonlySet<string> = new Set(["not_logged_in", "auth_rejected"]);

const ANSWER_TOOL = "answer";
const DEFAULT_STEP_BUDGET = 10;
/** The first schema violation is returned to the model; the second fails the call. */
const REPAIRS_ALLOWED = 1;

/**
 * Isolated calls to Claude Code: text, objects and agent loops that see nothing of the user's machine except the call's
 * input. Operations reject with an `LlmError`; retries belong to `attempt`.
 */
export class ClaudeCode implements AsyncDisposable {
  readonly payer: Payer;
  readonly #ledger: ProcessLedger;
  readonly #pool: ProcessPool;
  readonly #base: Omit<ProcessFixture, "system">;
  #swept: Promise<unknown> | undefined;

  constructor(settings: ClaudeCodeSettings) {
    const { credential, stateFolder } = settings;
    this.payer = payerOf(credential);
    this.#ledger = new ProcessLedger(join(stateFolder, "processes"));
    const configDir = credential.type === "login" ? credential.configDir : join(stateFolder, "claude-code");
    this.#base = {
      executable: findExecutable(settings.executable),
      folder: join(stateFolder, "neutral"),
      variables: childVariables(settings.hostVariables, credential, configDir),
      credential,
      ...(settings.effort && { effort: settings.effort }),
    };
    const start = (fixture: ProcessFixture, setup: TurnSetup): ClaudeProcess => {
      // Recreate the folder if it was removed; a process does not start without its working folder.
      mkdirSync(fixture.folder, { recursive: true, mode: 0o700 });
      if (credential.type !== "login") dropForeignVariables(fixture.variables);
      return new ClaudeProcess(fixture, settings.deadlines, this.#ledger, setup);
    };
    this.#pool = new ProcessPool(settings.pool, start, settings.limit);
  }

  async text(call: ClaudeTextCall): Promise<string> {
    const { tools = [], stepBudget = DEFAULT_STEP_BUDGET } = call;
    if (tools.length > 0) {
      const { stopReason, text } = await this.loop({ ...call, tools, stepBudget, onStepFinish: async () => undefined });
      if (stopReason === "budget") throw new LlmError("empty_answer", spentOnTools(stepBudget));
      if (text.trim() === "") throw new LlmError("empty_answer", "The model answered with nothing.");
      return text;
    }
    return call.attempt(async () => {
      await using lease = await this.#take(call, []);
      let vainSteps = 0;
      const { text, stop } = await this.#run(lease.process, call, {
        tools: [],
        callTool: async () => ({ text: "There are no tools in this call.", isError: true }),
        // A model that calls tools again after being told that there are none will not answer.
        afterTools: async () => vainSteps++ < 1,
        prompt: call.prompt,
      });
      if (stop === "budget")
        throw new LlmError("empty_answer", "The model asked for tools instead of giving an answer.");
      if (text.trim() === "") throw new LlmError("empty_answer", "The model answered with nothing.");
      return text;
    });
  }

  async object(call: ClaudeObjectCall): Promise<unknown> {
    const { stepBudget = DEFAULT_STEP_BUDGET } = call;
    const byName = new Map((call.tools ?? []).map((tool) => [tool.name, tool]));
    let answerTool = ANSWER_TOOL;
    while (byName.has(answerTool)) answerTool = `final_${answerTool}`;
    const answerByTool = `Give your final answer by calling the tool \`${toolId(answerTool)}\` exactly once.`;
    const answeredWithText = `You answered with text only. ${answerByTool}`;
    const tools: ToolDefinition[] = [
      {
        name: answerTool,
        description: "Takes your final answer. Its input is the answer itself.",
        inputSchema: call.jsonSchema,
      },
      ...(call.tools ?? []).map(toDefinition),
    ];
    let toolsHaveRun = false;
    return call.attempt(async () => {
      await using lease = await this.#take(call, tools);
      let steps = 0;
      let repairs = 0;
      let complaint = answeredWithText;
      let answer: { value: unknown } | undefined;
      const takeAnswer = (value: unknown) => {
        const problem = call.check(value);
        if (problem === undefined) {
          answer ??= { value };
          return { text: "Thank you.", endsTurn: true };
        }
        complaint = problem;
        return {
          text: `The answer does not fit: ${problem}\nCall the tool again with a corrected answer.`,
          isError: true,
        };
      };
      const turn: Omit<Turn, "model" | "signal" | "prompt"> = {
        tools,
        callTool: async (name, input, signal) => {
          if (name === answerTool) return takeAnswer(input);
          toolsHaveRun = true;
          return lease.runTool(() => runTool(byName.get(name), input, AbortSignal.any([signal, call.signal])));
        },
        afterTools: async (toolIds) => {
          if (answer) return false;
          if (byName.size === 0 || toolIds.includes(toolId(answerTool))) return repairs++ < REPAIRS_ALLOWED;
          steps += 1;
          if (steps >= stepBudget) complaint = spentOnTools(stepBudget);
          return steps < stepBudget;
        },
      };
      let prompt = `${call.prompt}\n\n${answerByTool}`;
      try {
        while (true) {
          const outcome = await this.#run(lease.process, call, { ...turn, prompt });
          if (answer) return answer.value;
          if (outcome.stop === "budget" || repairs++ >= REPAIRS_ALLOWED) {
            throw new LlmError("structured_output", `The model gave no answer that fits the schema: ${complaint}`);
          }
          prompt = answeredWithText;
        }
      } catch (error) {
        throw toolsHaveRun ? lostConversation(error) : error;
      }
    });
  }

  async loop(call: ClaudeLoopCall): Promise<ClaudeLoopAnswer> {
    const byName = new Map(call.tools.map((tool) => [tool.name, tool]));
    const ownIds = new Set(call.tools.map(({ name }) => toolId(name)));
    const tools = call.tools.map(toDefinition);
    let steps = 0;
    let failures = 0;
    let toolsHaveRun = false;
    const hasBegun = (): boolean => steps > 0 || toolsHaveRun;
    const finishStep = async (toolIds: string[]): Promise<void> => {
      steps += 1;
      const toolFailures = failures + toolIds.filter((id) => !ownIds.has(id)).length;
      const toolCalls = toolIds.map((id) => (ownIds.has(id) ? id.slice(toolId("").length) : id));
      failures = 0;
      await call.onStepFinish({ stepIndex: steps, stepBudget: call.stepBudget, toolCalls, toolFailures });
    };
    let lease: (Lease & AsyncDisposable) | undefined;
    const callTool: ToolCall = async (name, input, signal) => {
      toolsHaveRun = true;
      const run = () => runTool(byName.get(name), input, AbortSignal.any([signal, call.signal]));
      const reply = await (lease ? lease.runTool(run) : run());
      if (reply.isError) failures += 1;
      return reply;
    };
    const afterTools = async (toolIds: string[]): Promise<boolean> => {
      await finishStep(toolIds);
      return steps < call.stepBudget;
    };
    try {
      return await call.attempt(async () => {
        // Continue an existing conversation instead of restarting it, because its tools may have had effects. They can
        // run before their step completes: Claude Code starts them while the answer is still streaming.
        const isContinued = hasBegun();
        if (!isContinued) {
          lease?.release();
          lease = await this.#take(call, tools);
        }
        const { process } = lease!;
        const before = steps;
        try {
          const prompt = isContinued ? CONTINUE : call.prompt;
          const outcome = await this.#run(process, call, { prompt, tools, callTool, afterTools });
          if (outcome.answers > steps - before) await finishStep([]);
          return { stopReason: outcome.stop ?? "natural", text: outcome.text };
        } catch (error) {
          throw process.dead && hasBegun() ? lostConversation(error) : error;
        }
      });
    } finally {
      lease?.release();
    }
  }

  /** The models that Claude Code lists for this credential. Sends no model request. */
  async listModels(signal: AbortSignal): Promise<ListedModel[]> {
    signal.throwIfAborted();
    await using lease = await this.#take({ model: "sonnet", system: undefined, signal }, []);
    // Await here: returning the promise would release the process before it settles.
    return await lease.process.models();
  }

  /** Kills every process and resolves when all are gone. */
  async close(): Promise<void> {
    await this.#pool.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #take(
    call: Pick<ClaudeCall, "model" | "system" | "signal">,
    tools: readonly ToolDefinition[],
  ): Promise<Lease & AsyncDisposable> {
    await this.#sweepOnce();
    const lease = await this.#pool.take(
      { ...this.#base, system: call.system },
      { model: call.model, tools },
      call.signal,
    );
    return { ...lease, [Symbol.asyncDispose]: async () => lease.release() };
  }

  async #sweepOnce(): Promise<void> {
    try {
      await (this.#swept ??= this.#ledger.sweep());
    } catch (cause) {
      this.#swept = undefined;
      throw new LlmError("process_died", `Processes left by earlier runs could not be looked up: ${String(cause)}`, {
        fix: "Check the folder that TANDEM_HOME names, then run `tandem doctor`.",
        cause,
        final: true,
      });
    }
  }

  async #run(process: ClaudeProcess, call: ClaudeCall, turn: Omit<Turn, "model" | "signal">): Promise<TurnOutcome> {
    const outcome = await process.run({ ...turn, model: call.model, signal: call.signal });
    for (const { model, usage } of outcome.used) call.onUsage(model, usage);
    // A process caches the login it has read; discard it, so that a new login takes effect.
    if (outcome.error && LOGIN_ERRORS.has(outcome.error.code)) void process.kill();
    if (outcome.error) throw outcome.error;
    return outcome;
  }
}

const spentOnTools = (stepBudget: number): string =>
  `The model spent its step budget of ${stepBudget} on tools and gave no answer.`;

const toDefinition = ({ name, description, schema }: ClaudeTool): ToolDefinition => {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, { target: "draft-7", io: "input" });
  return { name, description, inputSchema };
};

async function runTool(
  tool: ClaudeTool | undefined,
  input: unknown,
  signal: AbortSignal,
): Promise<{ text: string; isError?: boolean }> {
  if (!tool) return { text: "There is no such tool.", isError: true };
  try {
    const { markdown } = await tool.execute(input, { signal });
    if (markdown.length <= MAX_RESULT_LENGTH) return { text: markdown };
    return {
      text: `The result has ${markdown.length} characters; at most ${MAX_RESULT_LENGTH} can be shown.`,
      isError: true,
    };
  } catch (error) {
    return { text: error instanceof Error ? error.message : String(error), isError: true };
  }
}

/** Not retried: tools may already have had effects. */
const lostConversation = (error: unknown): unknown =>
  error instanceof LlmError && error.transient
    ? new LlmError(error.code, `${error.message} Tools had run, so the call was not started again.`, {
        fix: "Look at what its tools have done before you run it again.",
        cause: error,
        final: true,
      })
    : error;
