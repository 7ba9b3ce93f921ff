import { setTimeout } from "node:timers/promises";
import {
  RequestError,
  type ApprovalAnswer,
  type ClientEvent,
  type LoggedEvent,
  type Session,
  type SessionId,
  type UserContent,
} from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import {
  answerOf,
  pendingRequestOf,
  pendingRequestOfApproval,
  permissionQuestion,
  type PendingRequest,
} from "./questions/pending-request.ts";
import type { AcpClient } from "./acp-client.ts";
import type { Patch } from "./patch.ts";
import { Prompt, type TurnOutcome } from "./prompt.ts";
import { askQuestions } from "./questions/question-form.ts";
import { SessionProjection } from "./session-projection.ts";
import { SessionStream } from "./session-stream.ts";
import { withoutRewound } from "./without-rewound.ts";

/** If the engine does not honor an interrupt within this time, the client gets its answer anyway. */
const CANCEL_MS = 15_000;
/** An approval is indexed when its call is logged, which takes until the model's message is complete. */
const FOUND_MS = 60_000;
const PAGE = 500;
const TITLE = 80;

export interface AcpSessionOptions {
  engine: Engine;
  client: AcpClient;
  /** The actor in the log. */
  who: string;
  folder: string;
  modes: () => readonly string[];
  /** Size of a model's context window in tokens, if known. */
  windowOf: (model: string) => number | undefined;
  mayKeepRules: boolean;
  /** Rejects if another process holds the session. */
  mayWrite: (session: string) => Promise<void>;
  /** Called when the session's settings changed. */
  onSettings: () => void;
  onFailure: (error: unknown, what: string) => void;
}

/** A session that a client watches: sends its events to the client, and the client's requests to the engine. */
export class AcpSession {
  readonly id: string;
  readonly #parts: AcpSessionOptions;
  readonly #end = new AbortController();
  readonly #prompts = new Set<Prompt>();
  /** Open requests to the person, by tool call. */
  readonly #asking = new Map<string, AbortController>();
  #projection: SessionProjection;
  #stream: SessionStream | undefined;
  #isTitled: boolean;
  /** The message that started the running turn, also if another client sent it. */
  #turn: string | undefined;
  #hasTasks = false;

  constructor(session: Pick<Session, "id" | "title">, parts: AcpSessionOptions) {
    this.id = session.id;
    this.#isTitled = session.title !== null;
    this.#parts = parts;
    this.#projection = new SessionProjection(parts.folder, parts.windowOf);
  }

  /** Sends the history. Omits transient updates such as notices. */
  async replay(): Promise<void> {
    const logged: LoggedEvent[] = [];
    for (let after = 0; ;) {
      const page = await this.#parts.engine.sessions.events(this.id, { after, limit: PAGE });
      logged.push(...page.events);
      if (page.events.length < PAGE) break;
      after = page.events.at(-1)!.seq;
    }
    const last = new Map<string, Patch>();
    for (const entry of withoutRewound(logged)) {
      const patches = this.#take(entry, "past").filter((patch) => patch.type !== "notice");
      for (const patch of patches) if (isLatestOnly(patch)) last.set(patch.type, patch);
      await this.#parts.client.update(
        this.id,
        patches.filter((patch) => !isLatestOnly(patch)),
      );
    }
    await this.#parts.client.update(this.id, [...last.values()]);
    this.#follow(logged.at(-1)?.seq ?? 0);
  }

  /** Starts to watch the session. */
  async attach(): Promise<void> {
    const after = await this.#parts.engine.sessions.head(this.id);
    const { events } = await this.#parts.engine.sessions.events(this.id, { order: "desc", limit: PAGE, thread: null });
    for (const entry of events.toReversed()) this.#take(entry, "past");
    this.#follow(after);
  }

  /** Sends pending approvals and questions again. */
  async askAgain(): Promise<void> {
    const { engine } = this.#parts;
    const { data } = await engine.approvals.list({ status: "pending", session: this.id, limit: 100 });
    for (const approval of data.toReversed()) this.#ask(pendingRequestOfApproval(approval));
  }

  /** Sends a message and returns at once; the prompt reports the outcome. */
  prompt(content: UserContent[]): Prompt {
    const prompt = new Prompt();
    this.#prompts.add(prompt);
    void prompt.outcome.catch(() => undefined).then(() => this.#prompts.delete(prompt));
    const sending = this.#send(prompt, content);
    this.#stream?.holdUntil(sending);
    return prompt;
  }

  /** Cancels the running turn and queued prompts. Has no effect on an idle session, not even on its next turn. */
  cancel(): void {
    const running = [...this.#prompts];
    for (const prompt of running) {
      if (prompt.isCancelled) continue;
      prompt.isCancelled = true;
      if (prompt.id !== undefined) this.#interrupt(prompt);
    }
    const turn = this.#turn;
    if (turn !== undefined && !running.some(({ id }) => id === turn)) {
      void this.#sendEvents([interruptOf(turn)]).catch((error: unknown) => this.#failed(error, "an interrupt"));
    }
  }

  /** Resolves when no prompt is in progress. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#prompts].map(({ outcome }) => outcome));
  }

  /** Stops watching. A running turn continues unless it was cancelled. */
  detach(): void {
    this.#end.abort();
    for (const asking of this.#asking.values()) asking.abort();
    for (const prompt of this.#prompts) prompt.end({ stop: "cancelled" });
  }

  async #send(prompt: Prompt, content: UserContent[]): Promise<void> {
    try {
      await this.#parts.mayWrite(this.id);
      if (prompt.isCancelled) return prompt.end({ stop: "cancelled" });
      const message: ClientEvent = { type: "user.message", content, tandem: { commands: true } };
      const [sent] = await this.#sendEvents([message]);
      prompt.sent(sent!.id);
      if (prompt.isCancelled) this.#interrupt(prompt);
      if (!this.#isTitled) await this.#entitle(content);
    } catch (error) {
      prompt.fail(error);
    }
  }

  async #entitle(content: readonly UserContent[]): Promise<void> {
    this.#isTitled = true;
    const text =
      content
        .find((block) => block.type === "text")
        ?.text.trim()
        .split("\n")[0] ?? "";
    if (text === "") return;
    const title = text.length > TITLE ? `${text.slice(0, TITLE - 1)}…` : text;
    const { engine, who } = this.#parts;
    await engine.sessions.update(this.id, { title }, who).catch((error: unknown) => this.#failed(error, "a title"));
  }

  #interrupt(prompt: Prompt): void {
    const late = globalThis.setTimeout(() => {
      void this.#update(this.#projection.close()).then(() => prompt.end({ stop: "cancelled" }));
    }, CANCEL_MS);
    void prompt.outcome.catch(() => undefined).finally(() => clearTimeout(late));
    this.#sendEvents([interruptOf(prompt.id!)]).catch((error: unknown) => {
      this.#failed(error, "an interrupt");
      prompt.end({ stop: "cancelled" });
    });
  }

  #sendEvents(events: ClientEvent[]) {
    const { engine, who } = this.#parts;
    return engine.sessions.send(this.id, events, who);
  }

  #follow(after: number): void {
    const { engine } = this.#parts;
    this.#stream = new SessionStream(engine.sessions, this.id as SessionId, after, this.#end.signal);
    void this.#watch(this.#stream);
  }

  async #watch(stream: SessionStream): Promise<void> {
    try {
      for await (const item of stream) {
        if (item.type === "delta") await this.#update(this.#projection.delta(item.delta));
        else await this.#happened(item.logged);
      }
      if (!this.#end.signal.aborted) throw new RequestError("not_found", `The session ${this.id} is gone.`);
    } catch (error) {
      if (this.#end.signal.aborted) return;
      this.#failed(error, "following a session");
      for (const prompt of this.#prompts) prompt.fail(error);
    }
  }

  async #happened(logged: LoggedEvent): Promise<void> {
    const { event, thread } = logged;
    const ended = this.#outcomes(logged);
    const patches = this.#take(logged, "now");
    // Clients show their user's own message themselves.
    const isOwn = event.type === "user.message" && [...this.#prompts].some(({ id }) => id === event.id);
    await this.#update(isOwn ? [] : patches);
    // Resolve prompts last: a client may ignore updates after the end of a turn.
    for (const end of ended) end();
    const child = thread === null ? undefined : { thread, agent: null, call: undefined };
    const pendingRequest = pendingRequestOf(logged, patches[0]?.child ?? child);
    if (pendingRequest) this.#ask(pendingRequest);
    if (event.type === "tandem.approval_resolved") this.#asking.get(event.event_id)?.abort();
    const mayChange = event.type === "tandem.approval_resolved" ? event.mode !== undefined : SETTINGS.has(event.type);
    if (mayChange) this.#parts.onSettings();
  }

  /** Translates an event for the client and tracks the running turn. */
  #take(logged: LoggedEvent, when: "past" | "now"): Patch[] {
    const { event, thread } = logged;
    const isMessage = event.type === "user.message" && event.tandem?.delivery !== "steer";
    if (thread === null && (isMessage || event.type === "user.define_outcome")) this.#turn = event.id;
    if (thread === null && isEnd(event)) this.#turn = undefined;
    if (event.type === "tandem.background") this.#hasTasks = event.tasks.length > 0;
    const patches = this.#projection.event(logged);
    if (when === "past" && event.type === "session.updated") this.#isTitled ||= event.title !== undefined;
    return patches;
  }

  /** How prompts end because of this event. */
  #outcomes({ event, thread }: LoggedEvent): (() => void)[] {
    if (event.type === "span.model_request_end") {
      for (const prompt of this.#prompts) if (prompt.hasBegun) prompt.count(event.model_usage);
    }
    if (thread !== null) return [];
    const begun = [...this.#prompts].filter(({ hasBegun }) => hasBegun);
    const all = (prompts: readonly Prompt[], stop: TurnOutcome["stop"]) =>
      prompts.map((prompt) => () => prompt.end({ stop }));
    switch (event.type) {
      case "user.message": {
        for (const prompt of this.#prompts) if (prompt.id === event.id) prompt.begin();
        // This message started a new turn, so the previous turn is over.
        return event.tandem?.delivery === "steer" ? [] : all(begun, "end_turn");
      }
      case "user.interrupt": {
        const turn = event.tandem?.turn_event_id;
        for (const prompt of begun) if (turn === undefined || turn === prompt.id) prompt.isCancelled = true;
        return [];
      }
      case "tandem.dropped": {
        const failure = new RequestError("conflict", `The message was not put to the agent: ${event.reason}.`);
        return [...this.#prompts].filter(({ id }) => id === event.event_id).map((prompt) => () => prompt.fail(failure));
      }
      case "session.error":
        if (event.error.retry_status.type !== "retrying") for (const prompt of begun) prompt.error = event.error;
        return [];
      case "session.usage":
        // Background tasks continue the conversation without a prompt, so the prompt ends now.
        return this.#hasTasks ? all(begun, "end_turn") : [];
      case "session.status_idle": {
        const { type } = event.stop_reason;
        if (type === "requires_action") return [];
        if (type === "budget_reached") for (const prompt of this.#prompts) this.#refuse(prompt, event.id);
        return all(
          begun,
          type === "refusal" ? "refusal" : type === "budget_reached" ? "max_turn_requests" : "end_turn",
        );
      }
      case "session.status_terminated":
      case "session.deleted": {
        const failure = new RequestError("conflict", "The session was ended by another client.");
        return [...this.#prompts].map((prompt) => () => prompt.fail(failure));
      }
      default:
        return [];
    }
  }

  /** An exhausted budget would leave the message queued. Take it back and tell the client. */
  #refuse(prompt: Prompt, at: string): void {
    // Ids are ordered by time.
    if (prompt.hasBegun || prompt.id === undefined || at < prompt.id) return;
    void this.#sendEvents([interruptOf(prompt.id)]).catch((error: unknown) => this.#failed(error, "an interrupt"));
    prompt.fail(
      new RequestError("conflict", "A budget has been reached.", { fix: "`tandem budgets` shows and raises it." }),
    );
  }

  #ask(pendingRequest: PendingRequest): void {
    if (this.#asking.has(pendingRequest.id) || this.#end.signal.aborted) return;
    const asking = new AbortController();
    this.#asking.set(pendingRequest.id, asking);
    this.#answer(pendingRequest, asking.signal)
      .catch((error: unknown) => {
        // A conflict means another client answered first or the turn ended; both are normal.
        if (!asking.signal.aborted && !isConflict(error)) this.#failed(error, "an approval");
      })
      .finally(() => this.#asking.delete(pendingRequest.id));
  }

  async #answer(pendingRequest: PendingRequest, signal: AbortSignal): Promise<void> {
    const { client, folder, modes, mayKeepRules } = this.#parts;
    if (pendingRequest.kind === "question") {
      const answer = await askQuestions(this.id, pendingRequest, { client, folder, signal });
      if (!signal.aborted) await this.#settle(pendingRequest.id, answer);
      return;
    }
    const question = permissionQuestion(pendingRequest, { folder, modes: modes(), mayKeepRules });
    const chosen = await client.ask(this.id, question, signal);
    if (signal.aborted) return;
    const answer = answerOf(pendingRequest, question, chosen);
    try {
      await this.#settle(pendingRequest.id, answer);
    } catch (error) {
      if (isConflict(error) || answer.result === "deny") throw error;
      // An invalid answer counts as a denial.
      const message = error instanceof Error ? error.message : String(error);
      await this.#settle(pendingRequest.id, { result: "deny", scope: "once", message });
    }
  }

  /** Retries while the approval is not found: a client may answer before the log records the request. */
  async #settle(id: string, answer: ApprovalAnswer): Promise<void> {
    const { engine, who, mayKeepRules } = this.#parts;
    const until = performance.now() + FOUND_MS;
    for (let pause = 10; ; pause *= 2) {
      try {
        await engine.approvals.answer(id, answer, who, mayKeepRules);
        return;
      } catch (error) {
        if (!(error instanceof RequestError) || error.code !== "not_found" || performance.now() > until) throw error;
        await setTimeout(pause);
        // Listing refreshes the index.
        await engine.approvals.list({ status: "pending", session: this.id, limit: 1 });
      }
    }
  }

  async #update(patches: readonly Patch[]): Promise<void> {
    if (patches.length > 0 && !this.#end.signal.aborted) await this.#parts.client.update(this.id, patches);
  }

  #failed(error: unknown, what: string): void {
    this.#parts.onFailure(error, what);
  }
}

const SETTINGS: ReadonlySet<string> = new Set(["session.updated", "tandem.mode"]);

const isEnd = (event: LoggedEvent["event"]): boolean =>
  event.type === "session.status_idle" && event.stop_reason.type !== "requires_action";

/** Only the latest of these patches matters. */
const isLatestOnly = ({ type }: Patch): boolean => type === "plan" || type === "usage" || type === "info";

const interruptOf = (turn: string): ClientEvent => ({ type: "user.interrupt", tandem: { turn_event_id: turn } });

const isConflict = (error: unknown): boolean => error instanceof RequestError && error.code === "conflict";
