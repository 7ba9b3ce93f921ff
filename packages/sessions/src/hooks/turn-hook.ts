import type { ConversationOutput, ModelContent, TurnEnd } from "@tandem/claude-code";
import type { EventId, SessionEventBody, StopReason } from "@tandem/protocol";
import type { Lease, SessionRow } from "@tandem/storage";
import { errorDetail } from "../log/error-detail.ts";
import type { UsageLedger } from "../log/usage-ledger.ts";

/**
 * Goes along with the turns of one session: takes checkpoints, watches what is spent. The runner of turns knows companions
 * only by this. A companion that rejects in `before` ends the turn with that error before anything is spent; in `after`, what
 * it rejects with becomes a warning in the log.
 */
export interface TurnHook {
  /** Whether a message may begin a turn. One that may not stays in the inbox, and is offered again. */
  admit?(): Promise<Refusal | Delay | undefined>;
  /** Whether no message may reach the model without `before`: then none steers a turn. */
  readonly guardsMessages?: boolean;
  /** Before the model is asked. What it returns goes into the log before anything of the turn. */
  before?(turn: TurnStart): Promise<readonly SessionEventBody[]>;
  /** What the model is told with the message of the turn. Asked after `before`. */
  words?(): readonly ModelContent[];
  /** Everything that comes out of the conversation, in order. Must not throw. */
  observe?(output: Extract<ConversationOutput, { type: "event" }>): void;
  /** Once the turn is over, and before that is said. What it returns goes into the log before the last event. */
  after?(turn: TurnStart, end: TurnEnd): Promise<readonly SessionEventBody[]>;
  /** The turn is left as it is, without a process: it waits, or is somebody else's. `before` comes before it goes on. */
  left?(): Promise<void>;
}

/** Why no turn begins, and what the log is told of it. */
export interface Refusal {
  reason: StopReason;
  events: readonly SessionEventBody[];
}

/** No turn begins for now: the message waits, and the session is as it was. */
export interface Delay {
  reason?: never;
  events: readonly SessionEventBody[];
}

export interface TurnStart {
  /** The message that begins it; null where a turn goes on that was left open, or Claude goes on by itself. */
  message: EventId | null;
  startedAt: number;
}

/** What a companion can know and do. */
export interface TurnControl {
  /** As it is now. */
  row(): SessionRow;
  lease: Lease;
  ledger: UsageLedger;
  /** Ends the turn that is running, once: Claude is interrupted, and the session goes idle for that reason. */
  stop(reason: StopReason, events?: readonly SessionEventBody[]): void;
}

export type Accompany = (turns: TurnControl) => readonly TurnHook[];

/** All the companions of a session's turns, in their order. */
export class TurnHooks {
  readonly #all: readonly TurnHook[];

  constructor(all: readonly TurnHook[]) {
    this.#all = all;
  }

  async admit(): Promise<Refusal | Delay | undefined> {
    const asked: TurnHook[] = [];
    for (const companion of this.#all) {
      const refusal = await companion.admit?.();
      if (!refusal) {
        if (companion.admit) asked.push(companion);
        continue;
      }
      // What others have set aside for a turn that does not begin is given back.
      await Promise.allSettled(asked.map(async (each) => each.left?.()));
      return refusal;
    }
    return undefined;
  }

  /** Must not keep anybody from leaving. */
  async left(): Promise<void> {
    await Promise.allSettled(this.#all.map(async (companion) => companion.left?.()));
  }

  async before(turn: TurnStart, write: (events: readonly SessionEventBody[]) => Promise<void>): Promise<void> {
    for (const companion of this.#all) {
      const said = await companion.before?.(turn);
      if (said?.length) await write(said);
    }
  }

  get guardMessages(): boolean {
    return this.#all.some(({ guardsMessages }) => guardsMessages);
  }

  words(): ModelContent[] {
    return this.#all.flatMap((companion) => companion.words?.() ?? []);
  }

  observe(output: Extract<ConversationOutput, { type: "event" }>): void {
    for (const companion of this.#all) companion.observe?.(output);
  }

  async after(turn: TurnStart, end: TurnEnd): Promise<SessionEventBody[]> {
    const said: SessionEventBody[] = [];
    for (const companion of this.#all) {
      try {
        said.push(...((await companion.after?.(turn, end)) ?? []));
      } catch (error) {
        said.push({ type: "tandem.notice", level: "warning", text: errorDetail(error).message });
      }
    }
    return said;
  }
}
