import type { Store } from "@tandem/storage";
import { Timer } from "../host/timer.ts";
import type { ApprovalService } from "./approval-service.ts";
import { asCall } from "./approval-reader.ts";

/** Others on the same store may have asked, or died before they could deny. */
const LOOK_MS = 30_000;
/** Timers end at 24.8 days. */
const LONGEST_MS = 60 * 60 * 1_000;

/** Denies what nobody has answered in time: whether a process waits for it, or a server was there when it was due, or not. */
export class ApprovalExpiry {
  readonly #store: Store;
  readonly #desk: ApprovalService;
  readonly #log: { warn(details: Record<string, unknown>, message: string): void };
  readonly #othersMs: number;
  /** When each is due, by id. */
  readonly #due = new Map<string, number>();
  readonly #alarm = new Timer();
  #look: NodeJS.Timeout | undefined;
  #stopListening: (() => void) | undefined;

  constructor(
    store: Store,
    desk: ApprovalService,
    log: { warn(details: Record<string, unknown>, message: string): void },
    /** So much later is denied what another process has asked: it does so itself, unless it has died. */
    othersMs = 0,
  ) {
    this.#store = store;
    this.#desk = desk;
    this.#log = log;
    this.#othersMs = othersMs;
  }

  /** Resolves when what was overdue has been denied. With `ownOnly`, only what this process asks is watched. */
  async start(ownOnly: boolean): Promise<void> {
    this.#stopListening = this.#store.events.onAppend((_, events) => {
      for (const logged of events) {
        const { event } = logged;
        if (event.type === "tandem.approval_resolved") this.#due.delete(event.event_id);
        this.#note(event.id, asCall(logged)?.use.tandem.approval?.expires_at ?? null);
      }
    });
    if (ownOnly) return;
    await this.#lookAround();
    this.#look = setInterval(() => void this.#lookAround(), LOOK_MS);
    this.#look.unref();
  }

  stop(): void {
    this.#stopListening?.();
    clearInterval(this.#look);
    this.#alarm.clear();
  }

  async #lookAround(): Promise<void> {
    try {
      for (const { id, session_id: session, expires_at: at } of await this.#desk.pending()) {
        await this.#desk.index(id, session);
        if (!this.#due.has(id)) this.#note(id, at, this.#othersMs);
      }
      await this.#denyDue();
    } catch (error) {
      this.#log.warn({ error: String(error) }, "approvals could not be looked through");
    }
  }

  #note(id: string, at: string | null, laterMs = 0): void {
    if (at === null) return;
    this.#due.set(id, Date.parse(at) + laterMs);
    this.#setAlarm();
  }

  #setAlarm(): void {
    if (this.#due.size === 0) return this.#alarm.clear();
    const next = Math.min(...this.#due.values()) - Date.now();
    this.#alarm.set(Math.min(Math.max(next, 0), LONGEST_MS), () => void this.#denyDue());
  }

  async #denyDue(): Promise<void> {
    const now = Date.now();
    for (const [id, at] of this.#due) {
      if (at > now) continue;
      this.#due.delete(id);
      await this.#desk.expire(id).catch((error: unknown) => {
        // Found again when somebody looks around next.
        this.#log.warn({ approval: id, error: String(error) }, "an approval could not be denied in time");
      });
    }
    this.#setAlarm();
  }
}
