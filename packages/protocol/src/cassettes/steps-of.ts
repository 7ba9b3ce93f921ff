import type { EventOf, LoggedEvent } from "../events/session-event.ts";
import type { CassetteAdded, CassetteBlock, CassetteInput, CassetteStep, CassetteStepOf } from "./cassette.ts";
import { inputOf } from "./input-of.ts";
import { resultChecksum } from "./result-checksum.ts";

type Step = CassetteStep extends infer S ? (S extends CassetteStep ? Omit<S, "step"> : never) : never;
type Call = CassetteStepOf<"call">;
type InputStep = Omit<CassetteStepOf<"input">, "step">;
type ResultEvent = EventOf<"agent.tool_result" | "agent.mcp_tool_result" | "user.tool_result">;
type UseEvent = EventOf<"agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use">;

/**
 * The steps of a session, from its event log. Calls of one answer come in the answer's order, whichever ended first. Inputs
 * that arrived meanwhile come before them: first approvals and other answers, in the order of their calls. The steps of
 * subagents follow the calls that started them, in the order of the calls.
 */
export function stepsOf(events: readonly LoggedEvent[]): CassetteStep[] {
  const reader = new StepReader();
  for (const logged of events) reader.read(logged);
  return reader.end().map((step, index) => ({ step: index + 1, ...step }));
}

/** A model request, the calls of its answer, and the inputs that came before the next request. */
interface Round {
  model: Omit<CassetteStepOf<"model">, "step">;
  inputs: InputStep[];
  calls: Omit<Call, "step">[];
  /** The blocks of the answer so far. */
  blocks: CassetteBlock[];
  isInterrupted: boolean;
}

/** The place of a subagent's steps: after the calls of the answer that started it. */
interface ThreadPlace {
  kind: "thread";
  of: ThreadState;
}

interface ThreadState {
  /** The call that started it; a number if no call did. Undefined on the primary thread. */
  name: string | undefined;
  steps: (Step | ThreadPlace)[];
  round: Round | undefined;
  /** The messages that the next request adds. */
  added: CassetteAdded[];
}

class StepReader {
  readonly #primary: ThreadState = { name: undefined, steps: [], round: undefined, added: [] };
  readonly #threads = new Map<string | null, ThreadState>([[null, this.#primary]]);
  /** Model requests by the ids of their start events. Those of subagents may end after later steps. */
  readonly #rounds = new Map<string, Round>();
  /** Calls by the ids of their events. */
  readonly #calls = new Map<string, Omit<Call, "step">>();
  /** The ids of events that were prompts, in order. */
  readonly #prompts: string[] = [];
  #graderRequests: OutcomeEvaluation["requests"] = [];
  #usd = 0;
  #waiting: { seq: number; calls: string[] } | undefined;
  #error: { type: string; message: string } | undefined;

  read({ seq, thread: id, event }: LoggedEvent): void {
    const thread = this.#threadOf(id);
    if (PROMPTS.has(event.type)) this.#prompts.push(event.id);
    const input = inputOf(event, (use) => this.#calls.get(use)?.id ?? use);
    if (input) return this.#input(thread, seq, input);
    switch (event.type) {
      case "span.model_request_start":
        // Only requests that Claude Code did not stream have a model here, on the primary thread.
        return this.#startRequest(thread, seq, event.id, id === null && event.tandem?.model !== undefined);
      case "span.model_request_end":
        return this.#endRequest(event);
      case "agent.thread_message_sent":
        return this.#nameThread(thread, event);
      case "agent.thread_message_received":
        if (id !== null) thread.added.push({ type: "message", content: event.content });
        return;
      case "agent.message":
        thread.round?.blocks.push(...event.content);
        if (event.tandem?.interrupted && thread.round) thread.round.isInterrupted = true;
        return;
      case "tandem.thinking":
        thread.round?.blocks.push({ type: "thinking", thinking: event.text, signature: event.signature ?? "" });
        return;
      case "tandem.thinking_redacted":
        thread.round?.blocks.push({ type: "redacted_thinking", data: event.data });
        return;
      case "agent.tool_use":
      case "agent.mcp_tool_use":
      case "agent.custom_tool_use":
        return this.#call(thread, seq, event);
      case "agent.tool_result":
        return this.#result(thread, event.tool_use_id, event);
      case "agent.mcp_tool_result":
        return this.#result(thread, event.mcp_tool_use_id, event);
      case "user.tool_result":
        return this.#result(thread, event.tool_use_id, event);
      case "tandem.grader_request":
        this.#usd += event.tandem.usd ?? 0;
        this.#graderRequests.push({ model: event.tandem.model ?? null, usage: tokensOf(event.model_usage) });
        return;
      case "span.outcome_evaluation_end": {
        const { type, iteration, result, explanation } = event;
        const requests = this.#graderRequests;
        this.#graderRequests = [];
        return this.#input(thread, seq, { type, iteration, result, explanation, requests });
      }
      case "tandem.rewound": {
        const { type, scope, to_message_id: message } = event;
        // The conversation forgets them.
        if (scope !== "files") thread.added = [];
        const prompt = message === null ? null : this.#prompts.findIndex((each) => each === message) + 1;
        return this.#input(thread, seq, { type, scope, prompt });
      }
      case "tandem.approval_resolved": {
        const call = this.#calls.get(event.event_id);
        const { outcome, scope, edited } = event;
        if (call) call.approval = { outcome, ...(scope && { scope }), ...(edited && { edited }) };
        return;
      }
      case "tandem.retry": {
        const answer = thread.round?.model.answer;
        if (answer?.type === "error")
          Object.assign(answer, { status: event.status, reason: event.reason, retried: true });
        return;
      }
      case "session.error":
        this.#error = { type: event.error.type, message: event.error.message };
        return;
      case "session.status_idle":
        return this.#idle(thread, seq, event);
      case "session.status_terminated":
        this.#flush(thread);
        thread.steps.push({ kind: "idle", seq, stop_reason: "terminated", usd: inMicros(this.#usd) });
        return;
      default:
    }
  }

  end(): Step[] {
    for (const thread of this.#threads.values()) this.#flush(thread);
    const steps = this.#collect(this.#primary);
    // Threads that no call of a known thread started.
    for (const thread of this.#threads.values()) steps.push(...this.#collect(thread));
    const { seq, calls = [] } = this.#waiting ?? {};
    if (seq !== undefined) {
      steps.push({
        kind: "idle",
        seq,
        stop_reason: "requires_action",
        waiting_for: calls,
        usd: inMicros(this.#usd),
      });
    }
    return steps;
  }

  /** Takes the steps of a thread and its subagents. */
  #collect({ steps }: ThreadState): Step[] {
    return steps.splice(0).flatMap((step) => (step.kind === "thread" ? this.#collect(step.of) : [step]));
  }

  #threadOf(id: string | null): ThreadState {
    let thread = this.#threads.get(id);
    if (!thread) {
      thread = { name: String(this.#threads.size), steps: [], round: undefined, added: [] };
      this.#threads.set(id, thread);
    }
    return thread;
  }

  /** A subagent gets its first message: the prompt of the call that started it. */
  #nameThread(caller: ThreadState, { to_session_thread_id: to, content }: EventOf<"agent.thread_message_sent">): void {
    if (this.#threads.has(to)) return;
    const taken = new Set([...this.#threads.values()].map(({ name }) => name));
    const [block] = content;
    const prompt = block && "text" in block ? block.text : undefined;
    const call = caller.round?.calls.find(
      ({ id, tool, input }) => tool === "Agent" && input["prompt"] === prompt && !taken.has(id),
    );
    if (call) this.#threads.set(to, { name: call.id, steps: [], round: undefined, added: [] });
  }

  #input(thread: ThreadState, seq: number, event: CassetteInput): void {
    const { round } = thread;
    const step: InputStep = { kind: "input", ...named(thread), seq, event };
    if (round) {
      const isAnswering = round.model.answer === null;
      if (isAnswering && event.type === "user.interrupt") round.isInterrupted = true;
      const after = round.calls.flatMap(({ id, result }) => (result ? [id] : []));
      round.inputs.push({ ...step, during: isAnswering ? "answer" : "calls", ...(after.length > 0 && { after }) });
    } else {
      thread.steps.push(step);
    }
    if (event.type === "user.message") thread.added.push({ type: "message", content: event.content });
    if (event.type === "system.message") thread.added.push({ type: "system", content: event.content });
    if (event.type === "tandem.compaction" && !round) thread.added = [];
    if (event.type === "user.custom_tool_result" || event.type === "user.tool_result") {
      const call = [...this.#calls.values()].findLast(({ id }) => id === event.call);
      if (call) close(thread, call, { content: event.content, is_error: event.is_error });
    }
    if (event.type !== "user.interrupt") this.#waiting = undefined;
  }

  #startRequest(thread: ThreadState, seq: number, id: string, isUnseen: boolean): void {
    const order = thread.round?.calls.map(({ id }) => id) ?? [];
    this.#flush(thread);
    const results = thread.added.flatMap((entry) => (entry.type === "tool_result" ? [entry] : []));
    results.sort((a, b) => order.indexOf(a.call) - order.indexOf(b.call));
    const added = isUnseen ? [] : [...results, ...thread.added.filter(({ type }) => type !== "tool_result")];
    if (!isUnseen) thread.added = [];
    thread.round = {
      model: { kind: "model", ...named(thread), seq, added, ...(isUnseen && { unseen: true as const }), answer: null },
      inputs: [],
      calls: [],
      blocks: [],
      isInterrupted: false,
    };
    this.#rounds.set(id, thread.round);
  }

  #endRequest({
    is_error: failed,
    model_usage: usage,
    model_request_start_id: start,
    tandem,
  }: EventOf<"span.model_request_end">) {
    this.#usd += tandem.usd ?? 0;
    const round = this.#rounds.get(start);
    if (!round) return;
    const content = round.blocks;
    if (round.isInterrupted) {
      round.model.answer = { type: "interrupted", content };
    } else if (failed) {
      round.model.answer = { type: "error", status: null, reason: "unknown", retried: false };
    } else {
      const { cache_write_5m_tokens: short, cache_write_1h_tokens: long } = tandem;
      round.model.answer = {
        type: "message",
        model: tandem.model ?? null,
        content,
        stop_reason: round.calls.length > 0 ? "tool_use" : "end_turn",
        usage: {
          ...tokensOf(usage),
          ...(short !== undefined && { cache_write_5m_tokens: short }),
          ...(long !== undefined && { cache_write_1h_tokens: long }),
        },
        usd: tandem.usd ?? null,
      };
    }
  }

  #call(thread: ThreadState, seq: number, event: UseEvent): void {
    const { name, input } = event;
    const { tool_use_id: id, verdict } = event.tandem;
    const server = event.type === "agent.mcp_tool_use" ? { server: event.mcp_server_name } : {};
    const permission = event.type === "agent.custom_tool_use" ? undefined : event.evaluated_permission;
    const call: Omit<Call, "step"> = {
      kind: "call",
      ...named(thread),
      seq,
      id,
      tool: name,
      ...server,
      ...(event.type === "agent.custom_tool_use" && { custom: true as const }),
      input,
      ...(permission && { permission }),
      ...(verdict && { verdict: { by: verdict.by, why: verdict.why } }),
      result: null,
    };
    this.#calls.set(event.id, call);
    if (!thread.round) return void thread.steps.push(call);
    thread.round.calls.push(call);
    thread.round.blocks.push({ type: "tool_use", id, name, ...server, input });
  }

  #result(thread: ThreadState, use: string, event: ResultEvent): void {
    const call = this.#calls.get(use);
    const interrupted = event.tandem?.interrupted;
    const content: CassetteBlock[] = [...(event.content ?? [])];
    if (call) close(thread, call, { content, is_error: event.is_error ?? false, ...(interrupted && { interrupted }) });
  }

  #idle(thread: ThreadState, seq: number, { stop_reason: reason }: EventOf<"session.status_idle">): void {
    if (reason.type === "requires_action") {
      const calls = reason.event_ids.flatMap((id) => this.#calls.get(id)?.id ?? []);
      this.#waiting = { seq, calls };
      return;
    }
    this.#waiting = undefined;
    const { round } = thread;
    const error = reason.type === "end_turn" ? undefined : this.#error;
    this.#error = undefined;
    if (error && round?.model.answer?.type === "error" && !round.model.answer.retried)
      round.model.answer.reason = error.type;
    if (reason.type === "refusal" && round?.model.answer?.type === "message")
      round.model.answer.stop_reason = "refusal";
    this.#flush(thread);
    thread.steps.push({
      kind: "idle",
      seq,
      stop_reason: reason.type,
      ...(error && { error }),
      usd: inMicros(this.#usd),
    });
  }

  #flush(thread: ThreadState): void {
    const { round } = thread;
    if (!round) return;
    thread.round = undefined;
    const order = round.calls.map(({ id }) => id);
    const [answers, others] = [round.inputs.filter(isAnswer), round.inputs.filter((input) => !isAnswer(input))];
    answers.sort((a, b) => order.indexOf(a.event.call) - order.indexOf(b.event.call));
    thread.steps.push(round.model, ...answers, ...others, ...round.calls);
    const children = order.flatMap((id) => [...this.#threads.values()].filter(({ name }) => name === id));
    thread.steps.push(...children.map((of) => ({ kind: "thread" as const, of })));
  }
}

type OutcomeEvaluation = Extract<CassetteInput, { type: "span.outcome_evaluation_end" }>;

/** Events that give the agent a message. */
const PROMPTS: ReadonlySet<string> = new Set(["user.message", "user.define_outcome", "span.outcome_evaluation_end"]);

type Answer = InputStep & { event: Extract<CassetteInput, { call: string }> };

const isAnswer = (input: InputStep): input is Answer => "call" in input.event;

type Result = Omit<NonNullable<Call["result"]>, "crc32">;

function close(thread: ThreadState, call: Omit<Call, "step">, result: Result): void {
  const { content, is_error } = result;
  call.result = { ...result, crc32: resultChecksum(content) };
  thread.added.push({ type: "tool_result", call: call.id, content, is_error });
}

/** Without the rounding errors of sums. */
const inMicros = (usd: number): number => Math.round(usd * 1e8) / 1e8;

const named = ({ name }: ThreadState): { thread?: string } => (name === undefined ? {} : { thread: name });

const tokensOf = (usage: EventOf<"span.model_request_end">["model_usage"]) => ({
  input_tokens: usage.input_tokens,
  output_tokens: usage.output_tokens,
  cache_read_input_tokens: usage.cache_read_input_tokens,
  cache_creation_input_tokens: usage.cache_creation_input_tokens,
});
