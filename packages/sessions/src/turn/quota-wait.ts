import { randomUUID } from "node:crypto";
import type { Conversation, TurnEnd } from "@tandem/claude-code";
import { LlmError, SESSION_METADATA, type EventOf, type SessionEventBody } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { Timer } from "../host/timer.ts";
import type { QuotaSettings } from "./turn-settings.ts";
import type { AccountLimit } from "../fleet/account-limits.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import { turnOptions } from "../process/turn-options.ts";
import { accountsOf, type Turn } from "./turn.ts";

type Parts = Pick<TurnDependencies, "settings" | "writer" | "ledger" | "limits" | "next" | "onBegin">;

/** Claude Code says when a quota resets to the second, and rounds down. */
const MARGIN_MS = 1_000;
/** A wait that others have brought about, and that is no longer than this, is no reason to end a turn. */
const BRIEF_MS = 2 * 60_000;
/** A machine that slept has not counted on: the time is looked at again so often. */
const LOOK_EVERY_MS = 20_000;

const AFTER_RESET =
  "[Tandem] A usage limit cut the turn off here, and it has been reset since. Go on where you were; what has been done need " +
  "not be done again.";

/** A turn that has met a quota and waits for its reset, without a process, where the session asks for that. */
export class QuotaWait {
  readonly #parts: Parts;
  readonly #settings: QuotaSettings;
  readonly #alarm = new Timer();
  #kind = "quota";
  /** A limit that is believed to hold, and asked about in spite of that. */
  #trying: AccountLimit | undefined;
  #until: number | undefined;
  /** How often the turn has waited. */
  #windows = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#settings = parts.settings.quota ?? { action: "stop", windows: 3 };
  }

  get waits(): boolean {
    return this.#until !== undefined;
  }

  observe(event: SessionEventBody): void {
    if (event.type === "tandem.rate_limit" && event.status === "rejected" && event.kind) this.#kind = event.kind;
    // A key's limit has no name and no time of reset; but for so long Claude Code itself asks no more.
    if (event.type === "tandem.retry" && event.status === 429) {
      void this.#parts.limits.learn("requests", new Date(Date.now() + event.delay_ms).toISOString());
    }
  }

  /** Rejects with `rate_limited` if others on the account know that its quota is used up: then nobody need be asked. */
  async check(message: EventOf<"user.message">): Promise<void> {
    const { writer, settings, limits } = this.#parts;
    const { model } = turnOptions(writer.row, settings, message);
    // Who would wait anyway has nothing to gain by trying.
    const known = await limits.of(model, { try: !this.#wantsToWait });
    this.#trying = known?.tried ? known.limit : undefined;
    if (!known || known.tried) return;
    const { kind, resetsAt, by } = known.limit;
    this.#kind = kind;
    const words = `A quota of this account (${kind}) is used up until ${resetsAt}, as ${by} has learned.`;
    throw new LlmError("rate_limited", words, { resetsAt: new Date(resetsAt) });
  }

  /** Tells others on the account what a turn that has ended so ran into, or that a limit does not hold any more. */
  async learn({ error }: TurnEnd): Promise<void> {
    const trying = this.#trying;
    this.#trying = undefined;
    if (trying && !error) await this.#parts.limits.lifted(trying);
    const resetsAt = error?.tandem?.resets_at;
    if (resetsAt !== undefined) await this.#parts.limits.learn(this.#kind, resetsAt);
  }

  /** Whether a turn that has ended so is to wait. `unasked`: it has not even begun, because of what others know. */
  takes({ stop, error }: TurnEnd, unasked = false): boolean {
    const resetsAt = error?.tandem?.resets_at;
    if (stop !== "error" || resetsAt === undefined) return false;
    if (unasked && Date.parse(resetsAt) - Date.now() < BRIEF_MS) return true;
    return this.#wantsToWait && this.#windows < this.#settings.windows;
  }

  get #wantsToWait(): boolean {
    return (this.#parts.writer.row.metadata[SESSION_METADATA.onQuota] ?? this.#settings.action) === "wait";
  }

  /** Writes down what the turn has taken, and that it waits from now on. */
  async enter(end: TurnEnd): Promise<void> {
    const { writer, ledger } = this.#parts;
    const { error } = end;
    const resetsAt = error?.tandem?.resets_at;
    if (!error || resetsAt === undefined) return;
    this.#windows += 1;
    this.#until = Date.parse(resetsAt);
    const [kind, window] = [this.#kind, this.#windows];
    const retried: TurnEnd = { ...end, error: { ...error, retry_status: { type: "retrying" } } };
    await writer.write(
      [
        ...accountsOf(retried, ledger, writer.row),
        { type: "tandem.parked", resets_at: resetsAt, kind, resumes: true, window },
        { type: "session.status_rescheduled" },
      ],
      {
        ...{ status: "rescheduling", parked: { resetsAt, kind } },
        ...{ usage: ledger.total, microUsd: ledger.microUsd },
      },
    );
  }

  /** Takes up the wait that a former writer has left. */
  inherit({ parked }: SessionRow, windows: number): boolean {
    this.#windows = windows;
    this.#until = parked ? Date.parse(parked.resetsAt) : undefined;
    return this.waits;
  }

  /** Lets a turn go on once the quota has been reset. Keeps the process alive until then. */
  wait(turn: Turn, goOn: () => void): void {
    const { next, onBegin, writer } = this.#parts;
    turn.park();
    onBegin();
    const unpark = async (): Promise<void> => {
      if (!this.waits) return;
      this.#until = undefined;
      turn.unpark();
      await writer.write([{ type: "session.status_running" }], { status: "running", parked: null });
      goOn();
    };
    this.#wait(() => next(unpark));
  }

  #wait(ring: () => void): void {
    if (this.#until === undefined) return;
    const left = Math.max(0, this.#until + MARGIN_MS - Date.now());
    if (left > LOOK_EVERY_MS) this.#alarm.set(LOOK_EVERY_MS, () => this.#wait(ring), true);
    else this.#alarm.set(left, ring, true);
  }

  /** Has the model go on with a turn whose last request was refused. */
  tell(conversation: Conversation): void {
    conversation.send({ uuid: randomUUID(), content: [{ type: "text", text: AFTER_RESET }] });
  }

  /** The turn is over, or somebody else's. */
  leave(): void {
    this.#until = undefined;
    this.#windows = 0;
    this.#alarm.clear();
  }
}
