import type { EventId, EventOf, SessionEventBody } from "@tandem/protocol";
import type { SessionChange, WaitingFor } from "@tandem/storage";
import type { OpenCall } from "./open-turn.ts";

export type Answer = EventOf<"user.tool_confirmation" | "user.custom_tool_result">;

interface Guest {
  call: OpenCall;
  /** Absent where the process that asked is gone. */
  take: ((answer: Answer) => void) | undefined;
}

/** Calls of a session that wait for a person or a client. Each leaves it exactly once. */
export class WaitingRoom {
  readonly #guests = new Map<EventId, Guest>();
  /** Answers to calls whose process is gone: they are told to the next one, all together. */
  #kept: { call: OpenCall; answer: Answer }[] = [];
  #announced = "";

  get size(): number {
    return this.#guests.size;
  }

  get calls(): OpenCall[] {
    return [...this.#guests.values()].map(({ call }) => call);
  }

  /** Waits for the answer to a call of a living process; undefined if the signal comes first. */
  async wait(call: OpenCall, signal: AbortSignal): Promise<Answer | undefined> {
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    const leave = (): void => {
      this.#guests.delete(call.use.id);
      resolve(undefined);
    };
    if (signal.aborted) return undefined;
    this.#guests.set(call.use.id, { call, take: resolve });
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  /** A call that a former process has left waiting. */
  inherit(call: OpenCall): void {
    this.#guests.set(call.use.id, { call, take: undefined });
  }

  /** The call that waits for an answer of this kind. */
  find(answer: Answer): OpenCall | undefined {
    const call = this.#guests.get(answeredId(answer))?.call;
    return call && (call.use.type === "agent.custom_tool_use") === isCustom(answer) ? call : undefined;
  }

  /** Takes the call out; what is returned hands the answer over, and is called once the answer is durable. */
  answer(answer: Answer): () => void {
    const id = answeredId(answer);
    const guest = this.#guests.get(id)!;
    this.#guests.delete(id);
    return () => (guest.take ? guest.take(answer) : this.#kept.push({ call: guest.call, answer }));
  }

  /** Answers that no process has been told of. */
  takeKept(): { call: OpenCall; answer: Answer }[] {
    const kept = this.#kept;
    this.#kept = [];
    return kept;
  }

  clear(): void {
    this.#guests.clear();
    this.#announced = "";
  }

  /** Where a turn stands that may wait for somebody. */
  get standing(): SessionChange {
    const waitingFor = this.calls.map(({ use }): WaitingFor => {
      const type = use.type === "agent.custom_tool_use" ? "custom_tool_result" : "tool_confirmation";
      return { event_id: use.id, type, name: use.name };
    });
    return { status: waitingFor.length === 0 ? "running" : "idle", waitingFor };
  }

  /** The event that says who waits, if that has not been said. */
  announcement(): SessionEventBody | undefined {
    const ids = [...this.#guests.keys()];
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
}

const answeredId = (answer: Answer): EventId =>
  (answer.type === "user.tool_confirmation" ? answer.tool_use_id : answer.custom_tool_use_id) as EventId;

const isCustom = (answer: Answer): boolean => answer.type === "user.custom_tool_result";
