import type { TurnEnd } from "@tandem/claude-code";
import { SESSION_METADATA, type SessionEventBody } from "@tandem/protocol";
import type { SessionChange, SessionRow } from "@tandem/storage";
import { Alarm } from "./alarm.ts";
import type { QuotaSettings } from "./engine-settings.ts";

/** Claude Code says when a quota resets to the second, and rounds down. */
const MARGIN_MS = 1_000;
/** A machine that slept has not counted on: the time is looked at again so often. */
const LOOK_EVERY_MS = 20_000;

/** What the model is told when the turn goes on. */
export const AFTER_RESET =
  "[Tandem] A usage limit cut the turn off here, and it has been reset since. Go on where you were; what has been done need " +
  "not be done again.";

/** A turn that has met a quota and waits for its reset, without a process, where the session asks for that. */
export class Parking {
  readonly #settings: QuotaSettings;
  readonly #alarm = new Alarm();
  #kind = "quota";
  #until: number | undefined;
  /** How often the turn has waited. */
  windows = 0;

  constructor(settings: QuotaSettings = { action: "stop", windows: 3 }) {
    this.#settings = settings;
  }

  get waits(): boolean {
    return this.#until !== undefined;
  }

  observe(event: SessionEventBody): void {
    if (event.type === "tandem.rate_limit" && event.status === "rejected" && event.kind) this.#kind = event.kind;
  }

  /** What is to be said of a turn that waits from now on; undefined where it is to end. */
  enter(
    end: TurnEnd,
    row: SessionRow,
  ): { end: TurnEnd; events: SessionEventBody[]; change: SessionChange } | undefined {
    const { error } = end;
    const resetsAt = error?.tandem?.resets_at;
    const wish = row.metadata[SESSION_METADATA.onQuota] ?? this.#settings.action;
    if (end.stop !== "error" || !error || resetsAt === undefined || wish !== "wait") return undefined;
    if (this.windows >= this.#settings.windows) return undefined;
    this.windows += 1;
    this.#until = Date.parse(resetsAt);
    const [kind, window] = [this.#kind, this.windows];
    return {
      end: { ...end, error: { ...error, retry_status: { type: "retrying" } } },
      events: [
        { type: "tandem.parked", resets_at: resetsAt, kind, resumes: true, window },
        { type: "session.status_rescheduled" },
      ],
      change: { status: "rescheduling", parked: { resetsAt, kind } },
    };
  }

  /** Takes up the wait that a former writer has left. */
  inherit({ parked }: SessionRow, windows: number): boolean {
    this.windows = windows;
    this.#until = parked ? Date.parse(parked.resetsAt) : undefined;
    return this.waits;
  }

  /** Rings once, when the quota has been reset. Keeps the process alive until then. */
  wait(ring: () => void): void {
    if (this.#until === undefined) return;
    const left = Math.max(this.#until, Date.now() - MARGIN_MS) + MARGIN_MS - Date.now();
    if (left > LOOK_EVERY_MS) return this.#alarm.set(LOOK_EVERY_MS, () => this.wait(ring), true);
    this.#alarm.set(left, ring, true);
  }

  /** It waits no more. */
  leave(): void {
    this.#until = undefined;
    this.#alarm.clear();
  }
}
