import type { Conversation, TurnEnd } from "@tandem/claude-code";
import type { CutShort, EventId, Interruption, SessionEventBody, StopReason } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { closing, type OpenCall, type Placed } from "../log/open-turn.ts";
import type { TurnStart } from "../hooks/turn-hook.ts";
import { errorDetail } from "../log/error-detail.ts";
import type { UsageLedger } from "../log/usage-ledger.ts";

/** From the message that begins it to the next idle. */
export class Turn {
  /** The messages that it has taken; none where Claude began it by itself. */
  readonly messages: Set<EventId>;
  readonly startedAt = Date.now();
  #since: number | undefined = this.startedAt;
  #ran = 0;
  interrupted = false;
  /** Somebody other than a person has stopped it, and why. */
  stopped: { reason: StopReason; events: readonly SessionEventBody[] } | undefined;
  /** Claude has what the turn goes on with: only from then on can it be steered. */
  told = false;
  /** How the model's part ended, where only background tasks are left of the turn. */
  rest: TurnEnd | undefined;

  constructor(messages: Iterable<EventId> = []) {
    this.messages = new Set(messages);
  }

  /** How long it has been at it, without the time that it was parked. */
  get ranMs(): number {
    return this.#ran + (this.#since === undefined ? 0 : Date.now() - this.#since);
  }

  park(): void {
    this.#ran = this.ranMs;
    this.#since = undefined;
  }

  unpark(): void {
    this.#since ??= Date.now();
  }

  /** As companions know it. */
  get start(): TurnStart {
    const [message = null] = this.messages;
    return { message, startedAt: this.startedAt };
  }

  /** Why it ended, in the words of the log. */
  stopReason(end: TurnEnd): StopReason {
    if (this.stopped) return this.stopped.reason;
    switch (end.stop) {
      case "end_turn":
      case "interrupted":
        return { type: "end_turn" };
      case "refusal":
        return { type: "refusal" };
      case "max_turns":
      case "error":
        return { type: "retries_exhausted" };
    }
  }
}

/** Why it came to no good end; null where it did, or has not come to one. */
export const cutShortOf = ({ type }: StopReason): CutShort | null =>
  type === "end_turn" || type === "requires_action" ? null : type;

/** What a turn has made, used and suffered, for the log: at its end, or where only background tasks are left of it. */
export function accountsOf(end: TurnEnd, ledger: UsageLedger, { budget }: SessionRow): SessionEventBody[] {
  const mismatch = ledger.reconcile(end.reported);
  return [
    ...(mismatch ? [{ type: "tandem.usage_mismatch" as const, ...mismatch }] : []),
    ...(end.output === undefined ? [] : [{ type: "tandem.output" as const, value: end.output }]),
    { type: "session.usage", usage: ledger.total, budget, tandem: ledger.note },
    ...(end.error ? [{ type: "session.error" as const, error: end.error }] : []),
  ];
}

/** What is said of calls that the end of their turn leaves without a result. */
export function cutOff(calls: Iterable<OpenCall>, why: Interruption): Placed[] {
  const words = "The turn ended before this call had a result. What it did is not known.";
  return [...calls].map((call) => closing(call, why, words));
}

/** A transcript that could not be stored is a turn that cannot be taken up again: that must not go unsaid. */
export async function unsavedOf(conversation: Conversation | undefined): Promise<SessionEventBody[]> {
  try {
    await conversation?.flush();
    return [];
  } catch (error) {
    return [{ type: "session.error", error: errorDetail(error) }];
  }
}
