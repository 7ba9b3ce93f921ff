import type { Store } from "@tandem/storage";
import { Timer } from "../host/timer.ts";
import type { HostSettings } from "../host/host-settings.ts";
import type { ApprovalService } from "./approval-service.ts";
import { asCall } from "./approval-reader.ts";

/** How often requests of other processes on the same store are checked: their process may have died. */
const CHECK_MS = 30_000;
/** A timer cannot be longer than 24.8 days. */
const MAX_MS = 60 * 60 * 1_000;
/** Not at once: the server is about to answer its first request. */
const PREPARE_MS = 500;

interface ExpiryDependencies {
  store: Store;
  service: Pick<ApprovalService, "pending" | "index" | "expire">;
  settings: Pick<HostSettings, "log" | "clock">;
  /** Loads the code that an answer needs, so that the person who answers does not wait for it. */
  prepare: (() => Promise<void>) | undefined;
  /** Requests of other processes are denied this much later: the other process does so itself unless it died. */
  othersMs: number;
}

/** Denies approval requests that were not answered in time, also those that expired while no server was running. */
export class ApprovalExpiry {
  readonly #dependencies: ExpiryDependencies;
  /** When each request expires, by id. */
  readonly #due = new Map<string, number>();
  readonly #timer: Timer;
  readonly #preparation: Timer;
  #stopChecking: (() => void) | undefined;
  #stopListening: (() => void) | undefined;

  constructor(dependencies: ExpiryDependencies) {
    this.#dependencies = dependencies;
    this.#timer = new Timer(dependencies.settings.clock);
    this.#preparation = new Timer(dependencies.settings.clock);
  }

  /** Resolves when overdue requests have been denied. With `ownOnly`, only requests of this process are watched. */
  async start(ownOnly: boolean): Promise<void> {
    const { store, settings, prepare } = this.#dependencies;
    this.#stopListening = store.events.onAppend((_, events) => {
      for (const logged of events) {
        const { event } = logged;
        if (event.type === "tandem.approval_resolved") this.#due.delete(event.event_id);
        this.#note(event.id, asCall(logged)?.use.tandem.approval?.expires_at ?? null);
      }
    });
    if (ownOnly) return;
    const isPending = await this.#check();
    if (isPending && prepare) this.#preparation.set(PREPARE_MS, () => void prepare());
    this.#stopChecking = settings.clock.every(CHECK_MS, () => void this.#check());
  }

  stop(): void {
    this.#stopListening?.();
    this.#stopChecking?.();
    this.#timer.clear();
    this.#preparation.clear();
  }

  /** Resolves with whether requests are pending. */
  async #check(): Promise<boolean> {
    const { service, settings, othersMs } = this.#dependencies;
    try {
      const pending = await service.pending();
      for (const { id, session_id: session, expires_at: at } of pending) {
        await service.index(id, session);
        if (!this.#due.has(id)) this.#note(id, at, othersMs);
      }
      await this.#denyDue();
      return pending.length > 0;
    } catch (error) {
      settings.log.warn({ error: String(error) }, "approvals could not be looked through");
      return false;
    }
  }

  #note(id: string, at: string | null, laterMs = 0): void {
    if (at === null) return;
    this.#due.set(id, Date.parse(at) + laterMs);
    this.#setTimer();
  }

  #setTimer(): void {
    if (this.#due.size === 0) return this.#timer.clear();
    const next = Math.min(...this.#due.values()) - this.#dependencies.settings.clock.now();
    this.#timer.set(Math.min(Math.max(next, 0), MAX_MS), () => void this.#denyDue());
  }

  async #denyDue(): Promise<void> {
    const { service, settings } = this.#dependencies;
    const now = settings.clock.now();
    for (const [id, at] of this.#due) {
      if (at > now) continue;
      this.#due.delete(id);
      await service.expire(id).catch((error: unknown) => {
        // The next check finds it again.
        settings.log.warn({ approval: id, error: String(error) }, "an approval could not be denied in time");
      });
    }
    this.#setTimer();
  }
}
