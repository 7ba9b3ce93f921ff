import type { HookCallback } from "@anthropic-ai/claude-agent-sdk";
import type { ThreadId, WorkflowRunError } from "@tandem/protocol";
import type { ConversationHost, ConversationSetup } from "./conversation.ts";

/** Agents that a workflow run may have in all. */
const MAX_LEAVES = 1_000;

/** Time until Claude Code has named the run of an agent that is about to start. */
const NAMED_MS = 10_000;

const TOO_MANY: WorkflowRunError = {
  type: "thread_limit_error",
  message: `The run exceeded its limit of ${MAX_LEAVES.toLocaleString("en")} agents.`,
};
const NOT_ALLOWED: WorkflowRunError = {
  type: "program_error",
  message: "The plan used an agent that the session's agent may not use in workflow runs.",
};

interface LeafGateSettings {
  setup: Pick<ConversationSetup, "workflows">;
  host: Pick<ConversationHost, "admitThread">;
  threadIdOf: (agent: string) => ThreadId;
  /** The task of the run that an agent works for, if it is known and there is one. */
  runOf: (agent: string) => { taskId: string; leaves: number } | "none" | undefined;
  /** Stops a run, which then ends with this error. */
  end: (taskId: string, error: WorkflowRunError) => void;
}

/**
 * Holds each agent of a workflow run before its first model request, until it may run. Claude Code waits for the hook, but
 * offers no way to refuse: an agent that may not start is held until its run is stopped.
 */
export class LeafGate {
  readonly #settings: LeafGateSettings;
  readonly #awaited = new Set<() => void>();

  constructor(settings: LeafGateSettings) {
    this.#settings = settings;
  }

  /** For `SubagentStart`. */
  readonly starting: HookCallback = async (input) => {
    if (input.hook_event_name !== "SubagentStart") return {};
    const mayStart = await this.#mayStart(input.agent_id, input.agent_type).catch(() => false);
    return mayStart ? {} : new Promise(() => undefined);
  };

  /** Claude Code has sent a message, which may name an agent. */
  observe(): void {
    for (const look of this.#awaited) look();
  }

  async #mayStart(agent: string, type: string): Promise<boolean> {
    const { host, threadIdOf, end, setup } = this.#settings;
    const run = await this.#runOf(agent);
    if (run === "none" || run === undefined) return true;
    if (run.leaves > MAX_LEAVES) {
      end(run.taskId, TOO_MANY);
      return false;
    }
    if (!isAllowed(type, setup.workflows)) {
      end(run.taskId, NOT_ALLOWED);
      return false;
    }
    return (await host.admitThread?.(threadIdOf(agent))) ?? true;
  }

  async #runOf(agent: string): Promise<ReturnType<LeafGateSettings["runOf"]>> {
    const { runOf } = this.#settings;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (runOf(agent) !== undefined) resolve();
    };
    const timer = setTimeout(resolve, NAMED_MS);
    this.#awaited.add(look);
    look();
    await promise;
    clearTimeout(timer);
    this.#awaited.delete(look);
    return runOf(agent);
  }
}

/** Claude Code creates worktrees for agents outside of the gate, so no run gets one. */
export const refuseWorktree: HookCallback = async () => {
  throw new Error("Agents of workflow runs work in the session's folder.");
};

const isAllowed = (type: string, workflows: ConversationSetup["workflows"]): boolean =>
  workflows !== undefined &&
  (workflows.agents.includes(type) || (workflows.inline && !workflows.excluded.includes(type)));
