import type { EventId, EventOf, SessionEvent, SessionEventBody } from "@tandem/protocol";
import type { SessionChange, WaitingFor } from "@tandem/storage";
import type { OpenCall } from "../log/open-turn.ts";

export type Answer = EventOf<"user.tool_confirmation" | "user.custom_tool_result">;

/**
 * Calls of a session that wait for a person or a client: from the moment they are in the log, whether the process that
 * made them has come to ask for the answer, will do so later, or is gone. Each is answered once.
 */
export class PendingApprovals {
  readonly #calls = new Map<EventId, OpenCall>();
  /** Processes that have come to ask. */
  readonly #asking = new Map<EventId, (answer: Answer | undefined) => void>();
  /** Answers that nobody has come to ask for. */
  readonly #early = new Map<EventId, { call: OpenCall; answer: Answer }>();
  /** Calls that a crash could still make the model forget, and with them their answers. */
  readonly #unkept = new Set<EventId>();
  #announced = "";

  get size(): number {
    return this.#calls.size;
  }

  get calls(): readonly OpenCall[] {
    return [...this.#calls.values()];
  }

  /** Takes a call in. It is not said to wait before it is `kept`. */
  async enter(call: OpenCall, kept?: Promise<void>): Promise<void> {
    const { id } = call.use;
    this.#calls.set(id, call);
    if (!kept) return;
    this.#unkept.add(id);
    await kept;
    this.#unkept.delete(id);
  }

  /** A call has come to its end; it is returned if that was without an answer. */
  leave(id: EventId): OpenCall | undefined {
    const call = this.#calls.get(id);
    this.#forget(id);
    this.#early.delete(id);
    return call;
  }

  /** An answer that a former writer took, and told nobody. */
  remember(call: OpenCall, answer: Answer): void {
    this.#early.set(call.use.id, { call, answer });
  }

  clear(): void {
    this.#calls.clear();
    this.#unkept.clear();
    this.#early.clear();
    for (const tell of this.#asking.values()) tell(undefined);
    this.#announced = "";
  }

  /** The answer to a call, as soon as there is one; undefined if the signal comes first. */
  async wait(id: EventId, signal: AbortSignal): Promise<Answer | undefined> {
    const early = this.#early.get(id);
    this.#early.delete(id);
    if (early) return early.answer;
    if (signal.aborted) return undefined;
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    const give = (): void => resolve(undefined);
    this.#asking.set(id, resolve);
    signal.addEventListener("abort", give, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", give);
      this.#asking.delete(id);
    }
  }

  /** The call that waits for an answer of this kind. */
  find(answer: Answer): OpenCall | undefined {
    const call = this.#calls.get(answeredId(answer));
    const custom = answer.type === "user.custom_tool_result";
    return call && (call.use.type === "agent.custom_tool_use") === custom ? call : undefined;
  }

  /** Takes the call out; what is returned hands the answer over, and is called once the answer is durable. */
  answer(call: OpenCall, answer: Answer): () => void {
    const { id } = call.use;
    this.#forget(id);
    return () => {
      const tell = this.#asking.get(id);
      if (tell) tell(answer);
      else this.#early.set(id, { call, answer });
    };
  }

  /** Answers that no process has come to ask for, and none will. */
  takeEarly(): { call: OpenCall; answer: Answer }[] {
    const early = [...this.#early.values()];
    this.#early.clear();
    return early;
  }

  /** Where a turn stands that may wait for somebody. */
  get standing(): SessionChange {
    if (this.#unkept.size > 0) return { status: "running", waitingFor: [] };
    const waitingFor = [...this.#calls.values()].map(({ use }): WaitingFor => {
      const type = use.type === "agent.custom_tool_use" ? "custom_tool_result" : "tool_confirmation";
      return { event_id: use.id, type, name: use.name };
    });
    return { status: waitingFor.length === 0 ? "running" : "idle", waitingFor };
  }

  /** The event that says who waits, if that has not been said. */
  announcement(): SessionEventBody | undefined {
    if (this.#unkept.size > 0) return undefined;
    const ids = [...this.#calls.keys()];
    const key = ids.join();
    if (key === this.#announced) return undefined;
    this.#announced = key;
    if (ids.length === 0) return { type: "session.status_running" };
    return {
      type: "session.status_idle",
      stop_reason: { type: "requires_action", event_ids: ids },
      stop_details: null,
    };
  }

  /** Whether somebody waits, and that has been said. */
  get isAnnounced(): boolean {
    return this.#calls.size > 0 && this.#announced === [...this.#calls.keys()].join();
  }

  /** A former process has said that these wait. */
  announcedBefore(ids: readonly EventId[]): void {
    this.#announced = ids.join();
  }

  #forget(id: EventId): void {
    this.#calls.delete(id);
    this.#unkept.delete(id);
  }
}

const answeredId = (answer: Answer): EventId =>
  (answer.type === "user.tool_confirmation" ? answer.tool_use_id : answer.custom_tool_use_id) as EventId;

export const isAnswer = (event: SessionEvent): event is Answer =>
  event.type === "user.tool_confirmation" || event.type === "user.custom_tool_result";
