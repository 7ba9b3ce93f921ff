import { costOf, LlmError } from "@tandem/protocol";
import { defineTool, type Tool } from "@tandem/runtime";
import type { Run } from "../runs/job-run.ts";
import { answerInput, type EvalAnswer, readAnswer } from "./eval-answer.ts";
import { type RecordedCall, recorded, type Recording, type TrialIdentity } from "./recordings.ts";
import { TASK_ERRORS } from "../runs/request-errors.ts";

/** Model requests of one trial. */
const STEP_BUDGET = 16;

export const EVAL_SYSTEM = `You answer questions about a database for people who use your figures without checking them. Look at the data with your tools, then call final_answer exactly once.
- kind answer: the one read-only statement (or metric query, if you have metrics) whose rows answer the question, with no columns or rows that were not asked for. It is run again and its rows are compared with the right ones. Duplicate rows, missing rows and wrong sums count as wrong.
- kind abstain: the data cannot answer the question. Say what is missing. Never answer a similar question instead.
- kind clarify: the question has several meanings with different figures, and nothing that you can read decides between them.
A wrong figure is worse than no figure. Write dates as literals; do not use the database's clock.`;

export interface QuestionPrompt {
  ask: string;
  connection: string;
  dialect: string;
  asOf: string | undefined;
  schema: string;
}

export const evalPrompt = ({ ask, connection, dialect, asOf, schema }: QuestionPrompt): string =>
  [
    `Connection: ${connection} (${dialect})`,
    ...(asOf === undefined ? [] : [`Today: ${asOf}`]),
    `Tables:\n${schema}`,
    `Question: ${ask}`,
  ].join("\n\n");

/** Asks the questions of a run. A used-up budget or a rejected credential stops all further questions. */
export class EvalAgent {
  readonly #run: Run;
  stopped: LlmError | undefined;

  constructor(run: Run) {
    this.#run = run;
    if (!run.llm)
      this.stopped = new LlmError("not_configured", "No model is configured, and the questions are asked of one.", {
        fix: "Set one up: tandem setup. Or run the parts without a model: tandem evals run --no-model.",
      });
  }

  /** Undefined if the model failed; `stopped` or a skipped item says why. */
  async ask(item: string, identity: TrialIdentity, hasMetrics: boolean): Promise<Recording | undefined> {
    const { llm, signal } = this.#run;
    signal.throwIfAborted();
    if (this.stopped || !llm) return undefined;
    const calls: RecordedCall[] = [];
    let answer: EvalAnswer | null = null;
    const finish = finalAnswer(hasMetrics, (given) => {
      answer = given;
    });
    const { model, system, prompt, tools } = identity;
    const result = await llm.runAgentLoop({
      role: "default",
      system,
      prompt,
      tools: [...recorded(tools, calls), finish],
      stepBudget: STEP_BUDGET,
      signal,
    });
    signal.throwIfAborted();
    if (result.stopReason === "error") {
      const error = result.error ?? new LlmError("empty_answer", "The agent ended without an answer.");
      if (!TASK_ERRORS.has(error.code)) this.stopped ??= error;
      this.#run.skip("ask", item, error);
      return undefined;
    }
    const { usage, steps } = result;
    const inputTokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWrite5mTokens + usage.cacheWrite1hTokens;
    const usd = costOf(model, usage)?.usd ?? null;
    return { calls, answer, steps, inputTokens, outputTokens: usage.outputTokens, usd };
  }
}

const finalAnswer = (hasMetrics: boolean, take: (answer: EvalAnswer) => void): Tool =>
  defineTool({
    name: "final_answer",
    description: "Ends your work with the final answer. Call it once; afterwards say only that you are done.",
    schema: answerInput(hasMetrics),
    execute: async (input) => {
      take(readAnswer(input));
      return { markdown: "Recorded. Stop now." };
    },
  });
