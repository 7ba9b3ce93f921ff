import { randomUUID } from "node:crypto";
import type { Conversation, TurnEnd } from "@tandem/claude-code";
import { LlmError, SESSION_METADATA, type EventOf, type SessionEventBody, type Clock } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { UNNAMED, type AccountLimit } from "../fleet/account-limits.ts";
import { Timer } from "../host/timer.ts";
import { turnOptions } from "../process/turn-options.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import { accountsOf } from "./turn-end.ts";
import type { TurnMachine } from "./turn-machine.ts";
import type { QuotaSettings } from "./turn-settings.ts";

type Dependencies = Pick<TurnDependencies, "settings" | "writer" | "ledger" | "limits" | "next" | "onBegin">;

/** Claude Code reports the reset in whole seconds, rounded down. */
const MARGIN_MS = 1_000;
/** A wait this short never ends a turn if another process learned of the limit. */
const BRIEF_MS = 2 * 60_000;
/** Timers stop while the machine sleeps, so the wall clock is checked this often. */
const CHECK_EVERY_MS = 20_000;

const AFTER_RESET =
  "[Tandem] A usage limit cut the turn off here, and it has been reset since. Go on where you were; what has been done need " +
  "not be done again.";

/** Lets a turn that hits a quota wait for the reset, without a process, if its session is configured so. */
export class QuotaWait {
  readonly #dependencies: Dependencies;
  readonly #machine: TurnMachine;
  readonly #settings: QuotaSettings;
  readonly #clock: Clock;
  readonly #timer: Timer;
  readonly #onResumed: () => void;
  /** As the service named it. */
  #kind: string | undefined;
  #model: string | undefined;
  /** A known limit that this turn tries nevertheless. */
  #trying: AccountLimit | undefined;

  /** `onResumed`: the quota has been reset, and the turn is `starting` again. */
  constructor(dependencies: Dependencies, machine: TurnMachine, onResumed: () => void) {
    this.#onResumed = onResumed;
    this.#dependencies = dependencies;
    this.#machine = machine;
    this.#settings = dependencies.settings.quota ?? { action: "stop", windows: 3 };
    this.#clock = dependencies.settings.clock;
    this.#timer = new Timer(this.#clock);
  }

  observe(event: SessionEventBody): void {
    if (event.type === "tandem.rate_limit" && event.status === "rejected" && event.kind) this.#kind = event.kind;
    // The limit of an API key has no name and no reset time. Claude Code itself sends no request for this long.
    if (event.type === "tandem.retry" && event.status === 429) {
      const resetsAt = new Date(this.#clock.now() + event.delay_ms).toISOString();
      void this.#dependencies.limits.learn({ model: this.#modelInUse, resetsAt });
    }
  }

  /** Rejects with `rate_limited` if another process on the account knows that its quota is used up. */
  async check(message: EventOf<"user.message">): Promise<void> {
    const { writer, settings, limits } = this.#dependencies;
    const { model } = turnOptions(writer.row, settings, message);
    this.#model = model;
    this.#kind = undefined;
    // A turn that would wait anyway gains nothing by trying.
    const known = await limits.of(model, { try: !this.#wantsToWait });
    this.#trying = known?.tried ? known.limit : undefined;
    if (!known || known.tried) return;
    const { kind, model: refused, resetsAt, by } = known.limit;
    if (refused === undefined) this.#kind = kind;
    const words = `A quota of this account (${refused ?? kind}) is used up until ${resetsAt} (reported by ${by}).`;
    throw new LlmError("rate_limited", words, { resetsAt: new Date(resetsAt) });
  }

  /** Shares the outcome of a turn with other processes on the account: a limit it hit, or one that no longer applies. */
  async learn({ error }: TurnEnd): Promise<void> {
    const trying = this.#trying;
    this.#trying = undefined;
    if (trying && !error) await this.#dependencies.limits.lifted(trying);
    const resetsAt = error?.tandem?.resets_at;
    if (resetsAt !== undefined) {
      await this.#dependencies.limits.learn({ kind: this.#kind, model: this.#modelInUse, resetsAt });
    }
  }

  get #modelInUse(): string {
    const { writer, settings } = this.#dependencies;
    return this.#model ?? turnOptions(writer.row, settings).model;
  }

  /** Whether a turn with this end is to wait. `isUnsent`: no request was made, because of a limit that others reported. */
  takes({ stop, error }: TurnEnd, isUnsent = false): boolean {
    const resetsAt = error?.tandem?.resets_at;
    if (stop !== "error" || resetsAt === undefined) return false;
    if (isUnsent && Date.parse(resetsAt) - this.#clock.now() < BRIEF_MS) return true;
    return this.#wantsToWait && (this.#machine.turn?.quotaWaits ?? 0) < this.#settings.windows;
  }

  get #wantsToWait(): boolean {
    return (this.#dependencies.writer.row.metadata[SESSION_METADATA.onQuota] ?? this.#settings.action) === "wait";
  }

  /** Starts the wait, and logs it with the usage of the turn so far. */
  async enter(end: TurnEnd): Promise<void> {
    const { writer, ledger } = this.#dependencies;
    const { error } = end;
    const resetsAt = error?.tandem?.resets_at;
    if (!error || resetsAt === undefined || !this.#machine.turn) return;
    this.#wait(resetsAt, true);
    const [kind, window] = [this.#kind ?? UNNAMED, this.#machine.turn.quotaWaits];
    const retried: TurnEnd = { ...end, error: { ...error, retry_status: { type: "retrying" } } };
    await writer.write(
      [
        ...accountsOf(retried, ledger, writer.row),
        { type: "tandem.parked", resets_at: resetsAt, kind, resumes: true, window },
        { type: "session.status_rescheduled" },
      ],
      { status: "rescheduling", parked: { resetsAt, kind }, usage: ledger.total, microUsd: ledger.microUsd },
    );
  }

  /** Continues the wait of a former writer. False if the turn was not waiting. */
  inherit({ parked }: SessionRow): boolean {
    if (!parked) return false;
    this.#wait(parked.resetsAt, false);
    return true;
  }

  #wait(resetsAt: string, isNew: boolean): void {
    this.#machine.apply({ type: "waitForQuota", until: Date.parse(resetsAt), isNew });
  }

  /** Resumes the waiting turn after the reset. The timer keeps the process alive until then. */
  wait(): void {
    const { next, onBegin, writer } = this.#dependencies;
    const { turn } = this.#machine;
    onBegin();
    const resume = async (): Promise<void> => {
      if (this.#machine.state.type !== "quotaWait" || this.#machine.turn?.id !== turn?.id) return;
      this.#machine.apply({ type: "resume" });
      await writer.write([{ type: "session.status_running" }], { status: "running", parked: null });
      this.#onResumed();
    };
    this.#setTimer(() => next(resume));
  }

  #setTimer(onReset: () => void): void {
    const { state } = this.#machine;
    if (state.type !== "quotaWait") return;
    const left = Math.max(0, state.until + MARGIN_MS - this.#clock.now());
    if (left <= CHECK_EVERY_MS) this.#timer.set(left, onReset, { keepsProcess: true });
    else this.#timer.set(CHECK_EVERY_MS, () => this.#setTimer(onReset), { keepsProcess: true });
  }

  /** Tells the model to continue a turn whose last request was rejected. */
  resume(conversation: Conversation): void {
    conversation.send({ uuid: randomUUID(), content: [{ type: "text", text: AFTER_RESET }] });
  }

  /** The turn has ended, or belongs to another worker. */
  leave(): void {
    this.#timer.clear();
  }
}
