import type { SDKTaskNotificationMessage, SDKTaskStartedMessage } from "@anthropic-ai/claude-agent-sdk";
import type {
  EventId,
  ThreadId,
  WorkflowRunError,
  WorkflowRunId,
  WorkflowRunPhaseId,
  WorkflowRunResult,
} from "@tandem/protocol";
import type { Emit } from "./emit.ts";
import type { Threads } from "./subagent-threads.ts";
import type { LeafPath } from "./translator-input.ts";
import type { LeafLine, LeafProgress, readProgress } from "./workflow-message.ts";

/** Claude Code's agent type of a leaf that the plan defines itself. */
const INLINE_LEAF = "workflow-subagent";

const NAME_LENGTH = 64;
const DESCRIPTION_LENGTH = 256;

/** The error of a leaf that did not fail by itself. */
const STOPPED_WITH_RUN = /^Stopped because the workflow/;

interface Phase {
  id: WorkflowRunPhaseId;
  isDeclared: boolean;
  /** The event that opened it; undefined while it is not open. */
  startedId?: EventId | undefined;
}

interface Leaf {
  thread: ThreadId;
  phase: string | undefined;
  /** `done`: its last lines are still to come. */
  state: "running" | "done" | "ended";
  /** Whether its transcript could end here. */
  isComplete: boolean;
}

interface Run {
  id: WorkflowRunId;
  key: string;
  name: string;
  description: string | null;
  isCreated: boolean;
  phases: Map<string, Phase>;
  /** By Claude Code's id of the agent. */
  leaves: Map<string, Leaf>;
  /** Labels and phases of agents, from their transcripts. */
  metadata: Map<string, Extract<LeafLine, { type: "agent_metadata" }>>;
  /** The agent that works at each place of the plan. A retry is another agent. */
  agentAt: Map<number, string>;
  queuedIn: Set<string>;
  /** Why we have stopped it. */
  refusal?: WorkflowRunError;
  detail?: string | undefined;
  result?: WorkflowRunResult;
}

/**
 * Workflow runs and their agents. Agents of a run send no messages: their state is in the run's progress, their work in their
 * transcripts, which lag behind by about 100 ms. An agent's thread goes idle after its last line, and the run ends after its
 * last thread.
 */
export class WorkflowRuns {
  readonly #emit: Emit;
  readonly #threads: Threads;
  readonly #idOf: (key: string) => string;
  readonly #closeCalls: (thread: ThreadId) => void;
  /** By task. */
  readonly #runs = new Map<string, Run>();
  /** Tasks by Claude Code's id of the run, which names its folder of transcripts. */
  readonly #taskOf = new Map<string, string>();

  constructor(
    emit: Emit,
    threads: Threads,
    settings: {
      threadIdOf: (key: string) => ThreadId;
      closeCalls: (thread: ThreadId) => void;
    },
  ) {
    this.#emit = emit;
    this.#threads = threads;
    this.#idOf = (key) => settings.threadIdOf(key).slice("sthr_".length);
    this.#closeCalls = settings.closeCalls;
  }

  ofTask(taskId: string): WorkflowRunId | undefined {
    return this.#runs.get(taskId)?.id;
  }

  get tasks(): string[] {
    return [...this.#runs.keys()];
  }

  get isEmpty(): boolean {
    return this.#runs.size === 0;
  }

  taskOfRun(id: WorkflowRunId): string | undefined {
    return [...this.#runs].find(([, run]) => run.id === id)?.[0];
  }

  /** The run that an agent works for, with the number of its agents so far. */
  ofAgent(agent: string): { taskId: string; leaves: number } | undefined {
    for (const [taskId, { leaves }] of this.#runs) if (leaves.has(agent)) return { taskId, leaves: leaves.size };
    return undefined;
  }

  started({ task_id: taskId, tool_use_id: toolUseId, workflow_name: name, description }: SDKTaskStartedMessage): void {
    const key = toolUseId ?? taskId;
    this.#runs.set(taskId, {
      id: `wrun_${this.#idOf(key)}` as WorkflowRunId,
      key,
      name: (name || "workflow").slice(0, NAME_LENGTH),
      description: description ? description.slice(0, DESCRIPTION_LENGTH) : null,
      isCreated: false,
      phases: new Map(),
      leaves: new Map(),
      metadata: new Map(),
      agentAt: new Map(),
      queuedIn: new Set(),
    });
  }

  launched({ taskId, runId }: { taskId: string; runId: string }): void {
    this.#taskOf.set(runId, taskId);
  }

  progress({ taskId, phases, leaves }: NonNullable<ReturnType<typeof readProgress>>): void {
    const run = this.#runs.get(taskId);
    if (!run) return;
    this.#create(run, phases);
    run.queuedIn = new Set(leaves.flatMap((leaf) => (isQueued(leaf) ? (leaf.phaseTitle ?? []) : [])));
    for (const leaf of leaves) this.#leafProgress(run, leaf);
    this.#endPhases(run);
  }

  /** Returns the thread of a transcript's line; undefined if the line has no content. */
  line({ run: runId, agent }: LeafPath, line: LeafLine): ThreadId | undefined {
    const run = this.#runs.get(this.#taskOf.get(runId) ?? "") ?? [...this.#runs.values()].at(-1);
    if (!run) return undefined;
    if (line.type === "agent_metadata") {
      run.metadata.set(agent, line);
      return undefined;
    }
    this.#create(run, []);
    return this.#leaf(run, agent).thread;
  }

  /** The line has been translated. */
  lineRead({ agent }: LeafPath, line: LeafLine): void {
    for (const run of this.#runs.values()) {
      const leaf = run.leaves.get(agent);
      if (!leaf || line.type === "agent_metadata") continue;
      leaf.isComplete =
        line.type === "user"
          ? line.toolEndsTurn === true
          : typeof line.message.stop_reason === "string" && line.message.stop_reason !== "tool_use";
      if (leaf.state === "done" && leaf.isComplete) this.#rest(run, leaf);
      this.#endIfOver(run);
    }
  }

  /** The run is to end with this error once Claude Code has stopped it. */
  refuse(taskId: string, error: WorkflowRunError): void {
    const run = this.#runs.get(taskId);
    if (run) run.refusal = error;
  }

  failed(taskId: string, detail: string | undefined): void {
    const run = this.#runs.get(taskId);
    if (run) run.detail = detail?.split("\n")[0];
  }

  ended({ task_id: taskId, status }: Pick<SDKTaskNotificationMessage, "task_id" | "status">): void {
    const run = this.#runs.get(taskId);
    if (!run) return;
    this.#create(run, []);
    run.result = run.refusal ? { type: "error", error: run.refusal } : RESULTS[status];
    this.#endIfOver(run);
  }

  /** The primary thread's turn after a run has ended: lines that have not come by now are lost. */
  flush(): void {
    for (const run of this.#runs.values()) if (run.result) this.#end(run, run.result);
  }

  /** The process has ended. The host closes its runs. */
  forget(): void {
    this.#runs.clear();
  }

  #create(run: Run, declared: readonly string[]): void {
    if (run.isCreated) return;
    run.isCreated = true;
    for (const name of declared) run.phases.set(name, { id: this.#phaseId(run, name), isDeclared: true });
    this.#emit.event(null, {
      type: "workflow_run.created",
      workflow_run_id: run.id,
      name: run.name,
      description: run.description,
      phases: [...run.phases].map(([name, { id }]) => ({ id, name: name.slice(0, NAME_LENGTH), description: null })),
    });
    this.#emit.event(null, { type: "workflow_run.status_running", workflow_run_id: run.id });
  }

  #leafProgress(run: Run, progress: LeafProgress): void {
    if (isQueued(progress) || progress.cached) return;
    const agent = progress.agentId ?? `${run.key}-${progress.index}`;
    const before = run.agentAt.get(progress.index);
    const earlier = before === undefined ? undefined : run.leaves.get(before);
    run.agentAt.set(progress.index, agent);
    if (before !== agent && earlier && earlier.state !== "ended") this.#rest(run, earlier, "Another agent retries it.");
    const leaf = this.#leaf(run, agent, progress);
    if (leaf.state !== "running") return;
    if (progress.state === "error") {
      const error = progress.error ?? "The agent failed.";
      return this.#rest(run, leaf, STOPPED_WITH_RUN.test(error) ? undefined : error);
    }
    if (progress.state !== "done") return;
    leaf.state = "done";
    if (leaf.isComplete) this.#rest(run, leaf);
  }

  #leaf(run: Run, agent: string, progress?: LeafProgress): Leaf {
    const known = run.leaves.get(agent);
    if (known) return known;
    const metadata = run.metadata.get(agent);
    const label = progress?.label ?? metadata?.description ?? "agent";
    const phase = progress?.phaseTitle ?? metadata?.workflowPhase;
    const type = progress?.agentType ?? metadata?.agentType ?? INLINE_LEAF;
    const phaseId = phase === undefined ? undefined : this.#startPhase(run, phase);
    const thread = this.#threads.leafStarted(agent, {
      agentName: type === INLINE_LEAF ? label : type,
      run: run.id,
      leaf: { label, ...(phaseId && { phase_id: phaseId }) },
    });
    const leaf: Leaf = { thread, phase, state: "running", isComplete: false };
    run.leaves.set(agent, leaf);
    return leaf;
  }

  #rest(run: Run, leaf: Leaf, error?: string): void {
    leaf.state = "ended";
    this.#closeCalls(leaf.thread);
    this.#threads.leafEnded(leaf.thread, error);
    this.#endPhases(run);
  }

  #phaseId = (run: Run, name: string): WorkflowRunPhaseId =>
    `wrph_${this.#idOf(`${run.key}/${name}`)}` as WorkflowRunPhaseId;

  #startPhase(run: Run, name: string): WorkflowRunPhaseId {
    const phase = run.phases.get(name) ?? { id: this.#phaseId(run, name), isDeclared: false };
    run.phases.set(name, phase);
    phase.startedId ??= this.#emit.event(null, {
      type: "workflow_run.phase_started",
      workflow_run_id: run.id,
      workflow_run_phase_id: phase.id,
      ...(!phase.isDeclared && { tandem: { name } }),
    });
    return phase.id;
  }

  /** A phase ends when it has no agents left and another one has begun. Agents of later phases may start earlier. */
  #endPhases(run: Run): void {
    const isActive = (name: string): boolean =>
      run.queuedIn.has(name) ||
      [...run.leaves.values()].some(({ phase, state }) => phase === name && state !== "ended");
    const open = [...run.phases].filter(([, { startedId }]) => startedId !== undefined);
    if (!open.some(([name]) => isActive(name))) return;
    for (const [name, phase] of open) if (!isActive(name)) this.#endPhase(run, phase);
  }

  #endPhase(run: Run, phase: Phase): void {
    if (phase.startedId === undefined) return;
    this.#emit.event(null, {
      type: "workflow_run.phase_ended",
      workflow_run_id: run.id,
      workflow_run_phase_id: phase.id,
      phase_started_id: phase.startedId,
    });
    phase.startedId = undefined;
  }

  #endIfOver(run: Run): void {
    if (run.result && [...run.leaves.values()].every(({ state }) => state === "ended")) this.#end(run, run.result);
  }

  #end(run: Run, result: WorkflowRunResult): void {
    for (const [taskId, each] of this.#runs) if (each === run) this.#runs.delete(taskId);
    for (const leaf of run.leaves.values()) if (leaf.state !== "ended") this.#rest(run, leaf);
    for (const phase of run.phases.values()) this.#endPhase(run, phase);
    if (result.type === "error") {
      this.#emit.event(null, {
        type: "workflow_run.error",
        workflow_run_id: run.id,
        error: result.error,
        ...(run.detail !== undefined && { tandem: { detail: run.detail } }),
      });
    }
    this.#emit.event(null, { type: "workflow_run.status_ended", workflow_run_id: run.id, result });
  }
}

const RESULTS: Record<SDKTaskNotificationMessage["status"], WorkflowRunResult> = {
  completed: { type: "completed" },
  stopped: { type: "stopped" },
  failed: { type: "error", error: { type: "program_error", message: "The plan failed." } },
};

const isQueued = ({ agentId, state }: LeafProgress): boolean => agentId === undefined && state === "start";
