import type { ConversationOutput, ModelContent, TurnEnd } from "@tandem/claude-code";
import type { EventId, SessionEventBody, StopReason, ThreadId } from "@tandem/protocol";
import type { Lease, SessionChange, SessionRow } from "@tandem/storage";
import type { DatabaseWait } from "../host/database-wait.ts";
import { errorDetail } from "../log/error-detail.ts";
import type { UsageLedger } from "../log/usage-ledger.ts";

/**
 * Extends the turns of one session, for example with checkpoints or budgets. If `before` rejects, the turn ends with that
 * error before anything is spent. If `after` rejects, the error becomes a warning in the log.
 */
export interface TurnHook {
  /**
   * Whether a message may begin a turn, or whether the turn that has ended may be evaluated. A refused message stays in the
   * input queue and is offered again.
   */
  admit?(work: AdmittedWork): Promise<Refusal | Delay | undefined>;
  /** Whether every message must pass `before`. Then no message can steer a turn. */
  readonly guardsMessages?: boolean;
  /** Called before the first model request. The returned events precede those of the turn. */
  before?(turn: TurnStart): Promise<readonly SessionEventBody[]>;
  /**
   * Runs while the model answers, once every `before` has passed; earlier only if something waits for it. Its events are logged
   * when it is done. No tool with side effects runs earlier, and the turn does not end earlier. Must not reject.
   */
  prepare?(turn: TurnStart): Promise<readonly SessionEventBody[]>;
  /** Content added to the message of the turn. Called after `before`. */
  words?(): readonly ModelContent[];
  /** Whether an agent of a workflow run may start. It waits until this resolves. */
  admitThread?(thread: ThreadId): Promise<Refusal | undefined>;
  /** Receives every event of the conversation in order. Must not throw. */
  observe?(output: Extract<ConversationOutput, { type: "event" }>): void;
  /** Something was spent besides the conversation. Must not throw. */
  spent?(): void;
  /** Why no further model request may be sent, in one sentence. Must not throw. */
  refusesRequest?(): string | undefined;
  /** Called at the end of the turn. The returned events precede its last event. */
  after?(turn: TurnStart, end: TurnEnd): Promise<readonly SessionEventBody[]>;
  /** The process was released: the turn waits, or another worker continues it. `before` is called before it resumes. */
  left?(): Promise<void>;
}

export type AdmittedWork = "turn" | "evaluation";

/** Why no turn begins, with the events to log. */
export interface Refusal {
  reason: StopReason;
  events: readonly SessionEventBody[];
}

/** No turn begins for now; the session keeps its status. */
export interface Delay {
  reason?: never;
  events: readonly SessionEventBody[];
}

export interface TurnStart {
  /** The message that begins it; null if an open turn is resumed, or Claude continues by itself. */
  message: EventId | null;
  /** The message that began it, also if it is resumed; null if Claude continues by itself. */
  opening: EventId | null;
  startedAt: number;
}

export interface TurnControl {
  row(): SessionRow;
  lease: Lease;
  ledger: UsageLedger;
  /** Changes the session's row. Resolves when that is durable. */
  change(change: SessionChange): Promise<void>;
  /** Waits for an unavailable database, while the session is held here. */
  database: DatabaseWait;
  /** Interrupts the running turn, which then ends with this reason. Only the first call has an effect. */
  stop(reason: StopReason, events?: readonly SessionEventBody[]): void;
}

export type CreateTurnHooks = (turns: TurnControl) => readonly TurnHook[];

/** A hook whose `before` may be repeated: it waits for an unavailable database instead of ending the turn. */
export function waitingHook(hook: TurnHook, database: DatabaseWait): TurnHook {
  return { ...hook, before: (turn) => database.run(async () => (await hook.before?.(turn)) ?? []) };
}

/** The hooks of a session's turns, in order. */
export class TurnHooks {
  readonly #all: readonly TurnHook[];
  #prepared: Promise<void> = Promise.resolve();
  /** Starts the preparation of the turn, once. */
  #begin: (() => void) | undefined;

  constructor(all: readonly TurnHook[]) {
    this.#all = all;
  }

  async admit(work: AdmittedWork = "turn"): Promise<Refusal | Delay | undefined> {
    const asked: TurnHook[] = [];
    for (const hook of this.#all) {
      const refusal = await hook.admit?.(work);
      if (!refusal) {
        if (hook.admit) asked.push(hook);
        continue;
      }
      // Other hooks release what they reserved for this turn.
      await Promise.allSettled(asked.map(async (each) => each.left?.()));
      return refusal;
    }
    return undefined;
  }

  async admitThread(thread: ThreadId): Promise<Refusal | undefined> {
    for (const hook of this.#all) {
      const refusal = await hook.admitThread?.(thread);
      if (refusal) return refusal;
    }
    return undefined;
  }

  /** Never rejects: a failing hook must not keep the process alive. */
  async left(): Promise<void> {
    await Promise.allSettled(this.#all.map(async (hook) => hook.left?.()));
  }

  async before(turn: TurnStart, write: (events: readonly SessionEventBody[]) => Promise<void>): Promise<void> {
    for (const hook of this.#all) {
      const said = await hook.before?.(turn);
      if (said?.length) await write(said);
    }
    this.#begin = () => {
      // A session that cannot be written is reported as lost elsewhere.
      this.#prepared = Promise.all([this.#prepared, this.#prepare(turn, write)]).then(
        () => undefined,
        () => undefined,
      );
    };
  }

  /** Starts the work that no tool may precede, unless it has started: it would compete with the start of Claude Code. */
  prepare(): void {
    this.#begin?.();
    this.#begin = undefined;
  }

  /** Resolves when the work that began with the turn is done and its events are durable. Never rejects. */
  prepared(): Promise<void> {
    this.prepare();
    return this.#prepared;
  }

  get guardMessages(): boolean {
    return this.#all.some(({ guardsMessages }) => guardsMessages);
  }

  words(): ModelContent[] {
    return this.#all.flatMap((hook) => hook.words?.() ?? []);
  }

  observe(output: Extract<ConversationOutput, { type: "event" }>): void {
    for (const hook of this.#all) hook.observe?.(output);
  }

  spent(): void {
    for (const hook of this.#all) hook.spent?.();
  }

  refusesRequest(): string | undefined {
    return this.#all.map((hook) => hook.refusesRequest?.()).find((reason) => reason !== undefined);
  }

  async after(turn: TurnStart, end: TurnEnd): Promise<SessionEventBody[]> {
    await this.prepared();
    const said: SessionEventBody[] = [];
    for (const hook of this.#all) {
      try {
        said.push(...((await hook.after?.(turn, end)) ?? []));
      } catch (error) {
        said.push({ type: "tandem.notice", level: "warning", text: errorDetail(error).message });
      }
    }
    return said;
  }

  async #prepare(turn: TurnStart, write: (events: readonly SessionEventBody[]) => Promise<void>): Promise<void> {
    for (const hook of this.#all) {
      const said = await hook.prepare?.(turn);
      if (said?.length) await write(said);
    }
  }
}
