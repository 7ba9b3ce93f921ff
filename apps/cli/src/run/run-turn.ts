import { userName } from "@tandem/tandem/project";
import {
  RequestError,
  StatusTimes,
  TandemError,
  type ClientEvent,
  type EventOf,
  type RequestErrorCode,
  type SessionErrorDetail,
  type SessionEvent,
  type SessionTimes,
  type StopReason,
} from "@tandem/protocol";
import type { SessionsClient } from "../sessions/sessions-client.ts";
import type { Approver } from "./approver.ts";
import { isToolUse, toolName, type ToolUse } from "../sessions/describe-call.ts";
import type { TurnView } from "./turn-view.ts";

/** After this time an interrupt has failed, and the session is left to its server. */
const INTERRUPT_MS = 10_000;
/** Enough events to find pending calls. */
const LOOK_BACK = 200;

export interface TurnResult {
  stopReason: StopReason;
  interrupted: boolean;
  /** The agent's last message. */
  text: string;
  /** The object of a turn with an output schema. */
  output: unknown;
  /** The last verdict on the outcome. */
  evaluation: EventOf<"span.outcome_evaluation_end"> | undefined;
  /** The error that ended the turn, if any. */
  error: SessionErrorDetail | undefined;
  /** The limit that was reached, if any. */
  limit: string | undefined;
  /** Tools whose calls were denied because there was no user to ask. */
  unapproved: string[];
  models: string[];
  /** At list price, including subagents. */
  usd: number;
  /** Wall time, with waits. */
  durationMs: number;
  times: SessionTimes;
}

export interface TurnOptions {
  view: TurnView;
  approve: Approver;
  /** The session was created with the message or the outcome. */
  isNew?: boolean;
  /** Aborts to interrupt the turn. */
  signal: AbortSignal;
}

export type TurnInput = Extract<ClientEvent, { type: "user.message" | "user.define_outcome" }>;

/** Sends a message or an outcome, unless the session is new, and follows the work on it until it ends. */
export async function runTurn(
  client: SessionsClient,
  session: string,
  input: TurnInput,
  options: TurnOptions,
): Promise<TurnResult> {
  using turn = new TurnUnderWay(client, session, options);
  return await turn.run(input);
}

/** Ignores `code`: another client answered first or the turn has ended. */
async function unlessAnswered(answering: Promise<unknown>, code: RequestErrorCode): Promise<void> {
  try {
    await answering;
  } catch (error) {
    if (!(error instanceof RequestError) || error.code !== code) throw error;
  }
}

class TurnUnderWay implements Disposable {
  readonly #client: SessionsClient;
  readonly #session: string;
  readonly #options: TurnOptions;
  readonly #end = new AbortController();
  readonly #since = performance.now();
  readonly #uses = new Map<string, ToolUse>();
  readonly #answered = new Set<string>();
  readonly #unapproved = new Set<string>();
  readonly #models = new Set<string>();
  #message: string | undefined;
  #begun = false;
  #text = "";
  #output: unknown;
  #evaluation: TurnResult["evaluation"];
  #error: SessionErrorDetail | undefined;
  #limit: string | undefined;
  #usdBefore = 0;
  #usd = 0;
  readonly #times = new StatusTimes();

  constructor(client: SessionsClient, session: string, options: TurnOptions) {
    this.#client = client;
    this.#session = session;
    this.#options = options;
  }

  async run(input: TurnInput): Promise<TurnResult> {
    const { signal, isNew } = this.#options;
    const updates = await this.#client.follow(this.#session, this.#end.signal, isNew ? "first" : "now");
    if (!isNew) {
      await this.#lookBack();
      signal.throwIfAborted();
      const [sent] = await this.#client.sessions.send(this.#session, [input]);
      this.#message = sent!.id;
    }
    const interrupt = () => void this.#interrupt();
    signal.addEventListener("abort", interrupt, { once: true });
    if (signal.aborted) interrupt();
    try {
      for await (const update of updates) {
        if (update.type === "delta") {
          if (this.#begun) this.#options.view.delta(update.delta);
          continue;
        }
        if (update.event.type === input.type) this.#message ??= update.event.id;
        const stopReason = await this.#take(update.event);
        if (stopReason) return this.#result(stopReason);
      }
    } finally {
      signal.removeEventListener("abort", interrupt);
    }
    throw new TandemError("aborted", "Interrupted.");
  }

  [Symbol.dispose](): void {
    this.#end.abort();
  }

  /** Finds pending calls, which block later messages until they are answered. */
  async #lookBack(): Promise<void> {
    const events = await this.#client.newest(this.#session, { limit: LOOK_BACK });
    for (const event of events) if (isToolUse(event)) this.#uses.set(event.id, event);
    const usage = events.find((event) => event.type === "session.usage");
    this.#usdBefore = this.#usd = usage?.tandem?.usd ?? 0;
    const status = events.find((event) => event.type.startsWith("session.status_"));
    if (status) await this.#answerWaiting(status);
  }

  /** Handles an event. Returns the stop reason when the turn has ended. */
  async #take(event: SessionEvent): Promise<StopReason | undefined> {
    if (event.id === this.#message) this.#begun = true;
    if (isToolUse(event)) this.#uses.set(event.id, event);
    if (event.type === "session.usage") {
      if (this.#begun) this.#usd = event.tandem?.usd ?? this.#usd;
      else this.#usdBefore = event.tandem?.usd ?? 0;
    }
    if (event.type === "session.deleted" || event.type === "session.status_terminated") {
      throw new RequestError("conflict", "Another client ended the session.");
    }
    const isFirst = this.#options.isNew === true && this.#message === undefined;
    if (event.type === "tandem.dropped" && (isFirst || event.event_id === this.#message)) {
      throw new RequestError("conflict", `The message was not sent to the agent: ${event.reason}.`);
    }
    if (this.#begun) {
      this.#times.note(event);
      this.#options.view.event(event);
      this.#keep(event);
    }
    // A message blocked by a limit stays queued, and is not on the stream. Ids are ordered by time.
    const isSince = isFirst || (this.#message !== undefined && event.id > this.#message);
    if (event.type === "tandem.budget" && isSince) this.#limit = event.reason;
    if (await this.#answerWaiting(event)) return undefined;
    if (event.type !== "session.status_idle") return undefined;
    const isRefused = isSince && event.stop_reason.type === "budget_reached";
    return this.#begun || isRefused ? event.stop_reason : undefined;
  }

  #keep(event: SessionEvent): void {
    switch (event.type) {
      case "agent.message":
        this.#text = event.content.map(({ text }) => text).join("");
        return;
      case "tandem.output":
        this.#output = event.value;
        return;
      case "span.outcome_evaluation_end":
        this.#evaluation = event;
        return;
      case "session.error":
        if (event.error.retry_status.type !== "retrying") this.#error = event.error;
        return;
      case "span.model_request_end":
        if (event.tandem.model) this.#models.add(event.tandem.model);
        return;
      default:
    }
  }

  /** Returns true if the session waits for answers, which are then being collected. */
  async #answerWaiting(event: SessionEvent): Promise<boolean> {
    if (event.type !== "session.status_idle" || event.stop_reason.type !== "requires_action") return false;
    for (const id of event.stop_reason.event_ids) {
      const use = this.#uses.get(id);
      if (!use || this.#answered.has(id)) continue;
      this.#answered.add(id);
      await this.#answer(use);
    }
    return true;
  }

  async #answer(use: ToolUse): Promise<void> {
    if (use.type === "agent.custom_tool_use" && !use.tandem.approval) {
      const text = `\`tandem run\` has no tool ${use.name}: only the program that defined it can run it.`;
      const result = { custom_tool_use_id: use.id, is_error: true, content: [{ type: "text" as const, text }] };
      await unlessAnswered(
        this.#client.sessions.send(this.#session, [{ type: "user.custom_tool_result", ...result }]),
        "invalid_request",
      );
      return;
    }
    try {
      using elsewhere = await answeredElsewhere(this.#client, this.#session, use.id);
      const { answer, asked } = await this.#options.approve(use, elsewhere.signal);
      if (!asked) this.#unapproved.add(toolName(use));
      await unlessAnswered(this.#client.approvals.answer(use.id, answer, userName()), "conflict");
    } catch (error) {
      // Interrupted while asking: the interrupt closes the call. Or another client answered first.
      if (!(error instanceof TandemError) || error.code !== "aborted") throw error;
    }
  }

  async #interrupt(): Promise<void> {
    setTimeout(() => this.#end.abort(), INTERRUPT_MS).unref();
    try {
      const turn = this.#message === undefined ? {} : { tandem: { turn_event_id: this.#message } };
      await this.#client.sessions.send(this.#session, [{ type: "user.interrupt", ...turn }]);
    } catch {
      // The interrupt cannot be delivered, so stop waiting.
      this.#end.abort();
    }
  }

  #result(stopReason: StopReason): TurnResult {
    return {
      stopReason,
      interrupted: this.#options.signal.aborted,
      text: this.#text,
      output: this.#output,
      evaluation: this.#evaluation,
      error: this.#error,
      limit: this.#limit,
      unapproved: [...this.#unapproved],
      models: [...this.#models],
      usd: Math.max(0, this.#usd - this.#usdBefore),
      durationMs: performance.now() - this.#since,
      times: this.#times.settled,
    };
  }
}

/** Aborts when an approval is closed by any client, or has been already. Disposing stops listening. */
async function answeredElsewhere(
  client: Pick<SessionsClient, "follow" | "newest">,
  session: string,
  id: string,
): Promise<Disposable & { signal: AbortSignal }> {
  const [end, answered] = [new AbortController(), new AbortController()];
  const updates = await client.follow(session, end.signal);
  const take = (event: SessionEvent): void => {
    if (event.type === "tandem.approval_resolved" && event.event_id === id) answered.abort();
  };
  // A client that was faster has answered before this one follows the session.
  for (const event of await client.newest(session, { limit: LOOK_BACK, types: ["tandem.approval_resolved"] }))
    take(event);
  void (async () => {
    for await (const update of updates) if (update.type === "event") take(update.event);
  })().catch(() => undefined);
  return { signal: answered.signal, [Symbol.dispose]: () => end.abort() };
}
