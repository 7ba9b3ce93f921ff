import { LlmError, type Role } from "@tandem/protocol";
import type { Tool } from "@tandem/runtime";
import type { Run } from "../../runs/job-run.ts";
import { FailedCalls, type FailedCall } from "./failed-calls.ts";
import { TASK_ERRORS } from "../../runs/request-errors.ts";

export interface Task {
  role: Role;
  /** Name in events. */
  unit: string;
  system: string;
  prompt: string;
  tools: readonly Tool[];
  stepBudget: number;
}

export interface Worked {
  outcome: "done" | "budget";
  /** Its last text. */
  said: string;
  failedCalls: FailedCall[];
}

const MAX_WORD = 1_000;

/** An agent that failed. Its work is discarded. */
export class AgentFailed extends Error {
  readonly error: LlmError;
  constructor(error: LlmError) {
    super(error.message);
    this.error = error;
  }
}

/** Agent loops of a run. A used-up quota or a rejected credential stops all further loops. */
export class Agents {
  readonly #run: Run;
  stopped: LlmError | undefined;

  constructor(run: Run) {
    this.#run = run;
    if (!run.llm) this.stopped = new LlmError("not_configured", "No model is configured, and documents need one.");
  }

  /** Rejects with `AgentFailed`, or when the run is aborted. Reaching its budget is not a failure. */
  async work({ unit, ...request }: Task): Promise<Worked> {
    const { llm, signal } = this.#run;
    signal.throwIfAborted();
    if (this.stopped || !llm) throw new AgentFailed(this.stopped!);
    const failed = new FailedCalls();
    const result = await llm.runAgentLoop({
      ...request,
      tools: failed.watch(request.tools),
      signal,
      onStepFinish: ({ stepIndex: step, stepBudget: budget, toolCalls: tools }) =>
        this.#run.emit({ type: "unit_step", unit, step, budget, tools: [...tools] }),
    });
    signal.throwIfAborted();
    if (result.stopReason !== "error") {
      const said = result.text.slice(0, MAX_WORD).toWellFormed();
      return { outcome: result.stopReason === "budget" ? "budget" : "done", said, failedCalls: failed.left };
    }
    const error = result.error ?? new LlmError("empty_answer", "The agent ended without a word.");
    if (!TASK_ERRORS.has(error.code)) this.stopped ??= error;
    throw new AgentFailed(error);
  }
}
