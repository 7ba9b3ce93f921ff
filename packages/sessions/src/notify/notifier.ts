import { newId, RequestError, type Approval, type LoggedEvent, type SessionId } from "@tandem/protocol";
import type { RecordChange, StoredRecord, Store } from "@tandem/storage";
import { z } from "zod";
import { isoNow, type Clock } from "../host/clock.ts";
import type { Log } from "../host/host-settings.ts";
import { Timer } from "../host/timer.ts";
import { describe, worthTelling, type Notification } from "./notification.ts";
import { sendWebhook, type Delivery } from "./send-webhook.ts";
import { showOnDesktop } from "./show-on-desktop.ts";
import type { NotifySettings } from "./notify-settings.ts";
import { DUE, keyOf, lastDelivery, listTargets, placeOf, SPACE, TOLD, type NotifyTarget } from "./targets.ts";

const PAGE = 200;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 10 * 60_000;
/** Notifications expire after a day. */
const DEADLINE_MS = 24 * 60 * 60_000;
/** The lease of a delivery attempt. */
const TRYING_MS = 60_000;
const LOOK_MS = 30_000;
const REMEMBER_MS = 7 * 24 * 60 * 60_000;

export interface Notifications {
  /** The targets, their kinds of events and their last result. */
  list(): Promise<NotifyTarget[]>;
  /** Sends a test to every target and returns the results. */
  test(): Promise<{ target: string; delivered: boolean; detail: string | null }[]>;
}

const due = z.object({
  url: z.string(),
  notification: z.looseObject({ type: z.string(), at: z.string(), text: z.string() }),
  attempts: z.int(),
  next_at: z.number(),
  until: z.number(),
});
type Due = z.infer<typeof due>;

/** Notifies targets when a session waits, completes or fails. Pending deliveries survive this process. */
export class Notifier implements Notifications {
  readonly #store: Store;
  readonly #settings: NotifySettings;
  readonly #variables: Readonly<Record<string, string | undefined>>;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #timer: Timer;
  readonly #stop = new AbortController();
  #stopLooking: (() => void) | undefined;
  #stopListening: (() => void) | undefined;
  #work: Promise<void> = Promise.resolve();
  #isDesktopAbsent = false;

  constructor(
    store: Store,
    settings: NotifySettings,
    parts: { hostVariables: Readonly<Record<string, string | undefined>>; log: Log; clock: Clock },
  ) {
    this.#clock = parts.clock;
    this.#timer = new Timer(parts.clock);
    this.#store = store;
    this.#settings = settings;
    this.#variables = parts.hostVariables;
    this.#log = parts.log;
  }

  get #isQuiet(): boolean {
    return this.#settings.webhooks.length === 0 && !this.#settings.desktop;
  }

  /** `pending` lists approvals for which a former process may have died before notifying. */
  async start(pending: () => Promise<readonly Approval[]>): Promise<void> {
    if (this.#isQuiet) return;
    this.#stopListening = this.#store.events.onAppend((session, events) => {
      for (const logged of events) if (worthTelling(logged)) this.#later(() => this.#tell(session, logged));
    });
    this.#later(async () => {
      for (const { id, session_id: session } of await pending()) await this.#tellAgain(session as SessionId, id);
    });
    this.#later(() => this.#forget());
    this.#later(() => this.#deliverDue());
    this.#stopLooking = this.#clock.every(LOOK_MS, () => this.#later(() => this.#deliverDue()));
  }

  /** Resolves when no delivery is in flight. Pending ones are sent after the next start. */
  async stop(): Promise<void> {
    this.#stopListening?.();
    this.#stopLooking?.();
    this.#timer.clear();
    this.#stop.abort();
    await this.#work;
  }

  list(): Promise<NotifyTarget[]> {
    return listTargets(this.#store, this.#settings);
  }

  async test(): ReturnType<Notifications["test"]> {
    if (this.#isQuiet) {
      throw new RequestError("invalid_request", "No notification targets are configured.", {
        fix: "Add a webhook to notify.webhooks of tandem.yaml, or set notify.desktop to true.",
      });
    }
    const notification: Notification = {
      type: "test",
      at: isoNow(this.#clock),
      text: "This is a test. Notifications of sessions arrive here.",
    };
    const said = async (target: string, delivery: Delivery, url?: string) => {
      await this.#store.records.write(SPACE, [lastDelivery(delivery, url)]);
      const isDelivered = delivery.type === "delivered";
      return { target, delivered: isDelivered, detail: isDelivered ? null : delivery.why };
    };
    return Promise.all([
      ...this.#settings.webhooks.map(async (webhook) =>
        said(placeOf(webhook.url), await sendWebhook(webhook, newId("event"), notification), webhook.url),
      ),
      ...(this.#settings.desktop ? [showOnDesktop(notification, this.#variables).then((d) => said("desktop", d))] : []),
    ]);
  }

  /** Serialised and not awaited by callers. */
  #later(work: () => Promise<void>): void {
    const unlessStopped = async (): Promise<void> => {
      if (!this.#stop.signal.aborted) await work();
    };
    this.#work = this.#work.then(unlessStopped).catch((error: unknown) => {
      this.#log.warn({ error: String(error) }, "a notification could not be handled");
    });
  }

  async #tellAgain(session: SessionId, id: string): Promise<void> {
    const logged = await this.#store.events.find(session, id);
    if (logged) await this.#tell(session, logged);
  }

  async #tell(session: SessionId, logged: LoggedEvent): Promise<void> {
    const found = worthTelling(logged);
    const row = found && (await this.#store.sessions.get(session));
    if (!row || (await this.#store.records.get(SPACE, TOLD, found.key))) return;
    const notification = describe(logged, row, this.#settings.link);
    const now = this.#clock.now();
    const entries = this.#settings.webhooks
      .filter(({ on }) => on.includes(found.type))
      .map(({ url }): { key: string; value: Due } => ({
        key: `${found.key}/${keyOf(url)}`,
        value: { url, notification: { ...notification }, attempts: 0, next_at: now, until: now + DEADLINE_MS },
      }));
    const changes = entries.map(({ key, value }) => ({ type: "put" as const, kind: DUE, key, value }));
    const told = { type: "put" as const, kind: TOLD, key: found.key, value: { at: now }, version: 0 };
    // Another process may deliver it at the same time.
    if (!(await this.#isFirst([told, ...changes]))) return;
    if (this.#settings.desktop) await this.#show(notification);
    await this.#deliverDue();
  }

  async #show(notification: Notification): Promise<void> {
    if (this.#isDesktopAbsent) return;
    const delivery = await showOnDesktop(notification, this.#variables);
    await this.#store.records.write(SPACE, [lastDelivery(delivery)]);
    if (delivery.type === "delivered") return;
    // Logged once: the result would be the same each time.
    this.#isDesktopAbsent = delivery.type === "refused";
    this.#log.warn({ why: delivery.why }, "the desktop could not show a notification");
  }

  async #deliverDue(): Promise<void> {
    let next = Infinity;
    for (let after: string | undefined; ;) {
      const records = await this.#store.records.list(SPACE, DUE, {
        limit: PAGE,
        ...(after !== undefined && { after }),
      });
      const times = await Promise.all(records.map((record) => this.#deliver(record)));
      next = Math.min(next, ...times);
      if (records.length < PAGE) break;
      after = records.at(-1)!.key;
    }
    if (next === Infinity) return;
    this.#timer.set(Math.max(0, Math.min(next - this.#clock.now(), MAX_RETRY_MS)), () =>
      this.#later(() => this.#deliverDue()),
    );
  }

  /** Attempts a due delivery; returns the time of the next attempt. */
  async #deliver({ key, value, version }: StoredRecord): Promise<number> {
    const entry = due.parse(value);
    if (entry.next_at > this.#clock.now()) return entry.next_at;
    const claimed: Due = { ...entry, attempts: entry.attempts + 1, next_at: this.#clock.now() + TRYING_MS };
    if (!(await this.#claim(key, claimed, version))) return this.#clock.now() + TRYING_MS;
    const webhook = this.#settings.webhooks.find(({ url }) => url === entry.url);
    const notification = entry.notification as unknown as Notification;
    const delivery: Delivery = webhook
      ? await sendWebhook(webhook, key, notification, this.#stop.signal)
      : { type: "refused", why: "it is not in the settings any more" };
    // An attempt aborted by our own exit says nothing about the target.
    const last = webhook && !this.#stop.signal.aborted ? [lastDelivery(delivery, entry.url)] : [];
    const wait = Math.min(FIRST_RETRY_MS * 2 ** entry.attempts, MAX_RETRY_MS);
    const nextAt = this.#clock.now() + wait * (0.75 + Math.random() / 2);
    if (delivery.type === "failed" && nextAt < entry.until) {
      const change = { type: "put" as const, kind: DUE, key, value: { ...claimed, next_at: nextAt } };
      await this.#store.records.write(SPACE, [change, ...last]);
      return nextAt;
    }
    await this.#store.records.write(SPACE, [{ type: "delete", kind: DUE, key }, ...last]);
    if (delivery.type !== "delivered") {
      const details = { webhook: placeOf(entry.url), attempts: claimed.attempts, why: delivery.why };
      this.#log.warn(details, "a notification was given up");
    }
    return Infinity;
  }

  #claim(key: string, value: Due, version: number): Promise<boolean> {
    return this.#isFirst([{ type: "put", kind: DUE, key, value, version }]);
  }

  async #isFirst(changes: readonly RecordChange[]): Promise<boolean> {
    try {
      await this.#store.records.write(SPACE, changes);
      return true;
    } catch (error) {
      if (error instanceof RequestError && error.code === "conflict") return false;
      throw error;
    }
  }

  async #forget(): Promise<void> {
    const before = this.#clock.now() - REMEMBER_MS;
    const old = (await this.#store.records.list(SPACE, TOLD, { limit: 10 * PAGE })).filter(
      ({ updatedAt }) => Date.parse(updatedAt) < before,
    );
    await this.#store.records.write(
      SPACE,
      old.map(({ key }) => ({ type: "delete" as const, kind: TOLD, key })),
    );
  }
}
