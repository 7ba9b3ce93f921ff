import { Projection, RequestError, type LoggedEvent, type SessionEvent, type SessionId } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import { isQuestion, permissionRequest, questionRequest } from "./projection/permission-request.ts";
import { requestIdOf, sessionIdOf } from "./projection/opencode-id.ts";
import { SessionStream } from "../acp/session-stream.ts";
import type { PendingRequest } from "../acp/questions/pending-request.ts";
import { diffMessages } from "./projection/diff-messages.ts";
import { MessageView } from "./projection/message-view.ts";
import { SessionFacts, type TurnFacts } from "./projection/session-facts.ts";
import { TurnEndWaits } from "./turn-end-waits.ts";
import type { TodoItem, WireEvent } from "./projection/wire-event.ts";
import type { WireMessage } from "./projection/wire-message.ts";

const PAGE = 500;
/** A turn that was interrupted ends within this time. */
const REST_MS = 10_000;

export interface WatchOptions {
  engine: Pick<Engine, "sessions">;
  /** The settings of a turn that names none. */
  current: TurnFacts;
  /** The delay that joins changes by previews. */
  batchMs: number;
  publish(events: readonly WireEvent[]): void;
  /** The session's own entry, or the diff of its files, has changed. */
  onChange(what: "info" | "diff"): void;
  onEnd(error?: unknown): void;
}

/** Follows a session, and publishes its changes as events of opencode. */
export class SessionWatch {
  readonly facts: SessionFacts;
  /** Resolves when the log was read to its end. */
  readonly ready: Promise<void>;
  readonly #id: SessionId;
  readonly #options: WatchOptions;
  readonly #projection = new Projection();
  readonly #messages: MessageView;
  readonly #waits = new TurnEndWaits();
  readonly #end = new AbortController();
  #shown: ReadonlyMap<string, WireMessage> = new Map();
  #flushing: NodeJS.Timeout | undefined;
  /** Resolves with the next event. */
  #news = Promise.withResolvers<void>();

  constructor(session: { id: string; folder: string; created_at: string }, options: WatchOptions) {
    this.#id = session.id as SessionId;
    this.#options = options;
    this.facts = new SessionFacts(options.current);
    this.#messages = new MessageView(session, this.facts);
    this.ready = this.#load();
    this.ready.then(
      () => void this.#follow(),
      (error: unknown) => options.onEnd(error),
    );
  }

  get isIdle(): boolean {
    return this.facts.turn === undefined && this.facts.pending.size === 0 && this.#waits.isEmpty;
  }

  /** The messages of the session or of a subagent's thread. */
  messages(thread: string | null): WireMessage[] {
    this.#flush();
    const id = sessionIdOf(this.#id, thread);
    return [...this.#shown.values()].filter(({ info }) => info.sessionID === id);
  }

  /** Everything that a client has to know, as events. Clients may have missed events while they were away. */
  snapshot(): WireEvent[] {
    this.#flush();
    const { state, todos } = this.facts;
    const sessionID = sessionIdOf(this.#id);
    return [
      { type: "session.status", properties: { sessionID, status: state } },
      ...diffMessages(new Map(), this.#shown, Date.now()),
      { type: "todo.updated", properties: { sessionID, todos: todos.map(todoItem) } },
      ...this.requests(),
    ];
  }

  /** Pending permissions and questions. */
  requests(): Extract<WireEvent, { type: "permission.asked" | "question.asked" }>[] {
    return [...this.facts.pending.values()].map((pendingRequest) => this.#requestOf(pendingRequest));
  }

  /** Shows a message that waits for its turn. */
  sent(event: SessionEvent): void {
    this.#projection.applyWaiting(event);
    this.#flush();
  }

  /** Resolves when the turn that this message starts has ended; rejects if the agent will not get the message. */
  settled(message: string): Promise<void> {
    return this.#waits.add(message);
  }

  /** The message was not sent. */
  forget(message: string): void {
    this.#waits.forget(message);
  }

  /** Resolves when this position of the log was published. */
  async reach(seq: number): Promise<void> {
    while (this.#projection.seq < seq && !this.#end.signal.aborted) await this.#news.promise;
  }

  /** Resolves when no turn runs, or after a while. */
  async rest(signal: AbortSignal): Promise<void> {
    const late = AbortSignal.any([signal, this.#end.signal, AbortSignal.timeout(REST_MS)]);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    late.addEventListener("abort", () => end(), { once: true });
    while (this.facts.turn !== undefined && !late.aborted) await Promise.race([this.#news.promise, ended]);
  }

  close(): void {
    this.#end.abort();
    this.#news.resolve();
    clearTimeout(this.#flushing);
    this.#waits.fail(new RequestError("unavailable", "The server is stopping."));
  }

  async #load(): Promise<void> {
    for (let after = 0; ;) {
      const page = await this.#options.engine.sessions.events(this.#id, { after, limit: PAGE });
      for (const entry of page.events) this.#take(entry);
      if (page.events.length < PAGE) {
        for (const event of page.waiting) this.#projection.applyWaiting(event);
        break;
      }
      after = page.events.at(-1)!.seq;
    }
    this.#shown = this.#messages.of(this.#projection.messages);
  }

  #take(entry: LoggedEvent): void {
    this.#projection.apply(entry);
    this.facts.apply(entry);
  }

  async #follow(): Promise<void> {
    const { sessions } = this.#options.engine;
    try {
      for await (const item of new SessionStream(sessions, this.#id, this.#projection.seq, this.#end.signal)) {
        if (item.type === "event") {
          this.#happened(item.logged);
        } else {
          this.#projection.applyDelta(item.delta);
          this.#flushing ??= setTimeout(() => this.#flush(), this.#options.batchMs);
        }
      }
      this.#ended(new RequestError("not_found", `The session ${this.#id} is gone.`));
    } catch (error) {
      this.#ended(error);
    }
  }

  #ended(error: unknown): void {
    if (this.#end.signal.aborted) return;
    this.#end.abort();
    this.#news.resolve();
    this.#waits.fail(error);
    this.#options.onEnd(error);
  }

  #happened(entry: LoggedEvent): void {
    const before = { state: this.facts.state, rewind: this.facts.rewind, todos: this.facts.todos };
    const resolved =
      entry.event.type === "tandem.approval_resolved" ? this.facts.pending.get(entry.event.event_id) : undefined;
    this.#take(entry);
    this.#flush();
    const { facts } = this;
    const sessionID = sessionIdOf(this.#id);
    const events: WireEvent[] = [];
    const asked = facts.pending.get(entry.event.id);
    if (asked) events.push(this.#requestOf(asked));
    if (resolved && entry.event.type === "tandem.approval_resolved") {
      events.push(this.#repliedOf(resolved, entry.event));
    }
    if (facts.todos !== before.todos) {
      events.push({ type: "todo.updated", properties: { sessionID, todos: facts.todos.map(todoItem) } });
    }
    if (entry.event.type === "session.error" && entry.event.error.retry_status.type !== "retrying") {
      const error = { name: "UnknownError" as const, data: { message: entry.event.error.message } };
      events.push({ type: "session.error", properties: { sessionID, error } });
    }
    if (entry.event.type === "tandem.compaction") events.push({ type: "session.compacted", properties: { sessionID } });
    if (facts.state !== before.state) {
      events.push({ type: "session.status", properties: { sessionID, status: facts.state } });
      if (facts.state.type === "idle") events.push({ type: "session.idle", properties: { sessionID } });
    }
    this.#options.publish(events);
    if (facts.rewind !== before.rewind || CHANGES_INFO.has(entry.event.type)) this.#options.onChange("info");
    if (changesFiles(entry.event)) this.#options.onChange("diff");
    this.#waits.apply(entry);
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  #flush(): void {
    clearTimeout(this.#flushing);
    this.#flushing = undefined;
    const next = this.#messages.of(this.#projection.messages);
    const events = diffMessages(this.#shown, next, Date.now());
    this.#shown = next;
    if (events.length > 0) this.#options.publish(events);
  }

  #requestOf(pendingRequest: PendingRequest): Extract<WireEvent, { type: "permission.asked" | "question.asked" }> {
    const holder = this.#projection.messages.findLast(({ parts }) => parts.some(({ id }) => id === pendingRequest.id));
    const place = { session: this.#id, thread: holder?.thread ?? null, message: holder?.id ?? null };
    return isQuestion(pendingRequest)
      ? { type: "question.asked", properties: questionRequest(pendingRequest, place) }
      : { type: "permission.asked", properties: permissionRequest(pendingRequest, place) };
  }

  #repliedOf(
    pendingRequest: PendingRequest,
    { outcome, scope }: Extract<SessionEvent, { type: "tandem.approval_resolved" }>,
  ): WireEvent {
    const holder = this.#projection.messages.findLast(({ parts }) => parts.some(({ id }) => id === pendingRequest.id));
    const sessionID = sessionIdOf(this.#id, holder?.thread ?? null);
    if (isQuestion(pendingRequest)) {
      const requestID = requestIdOf("question", pendingRequest.id);
      return outcome === "allowed"
        ? { type: "question.replied", properties: { sessionID, requestID, answers: [] } }
        : { type: "question.rejected", properties: { sessionID, requestID } };
    }
    const reply = outcome !== "allowed" ? "reject" : scope === "once" || scope === undefined ? "once" : "always";
    return {
      type: "permission.replied",
      properties: { sessionID, requestID: requestIdOf("permission", pendingRequest.id), reply },
    };
  }
}

const CHANGES_INFO: ReadonlySet<string> = new Set(["session.thread_created", "session.thread_status_idle"]);

const changesFiles = (event: SessionEvent): boolean =>
  event.type === "tandem.rewound" ||
  (event.type === "tandem.checkpoint" && event.when === "after" && event.files_changed > 0);

export const todoItem = ({ content, status }: { content: string; status: string }): TodoItem => ({
  content,
  status,
  priority: "medium",
});
