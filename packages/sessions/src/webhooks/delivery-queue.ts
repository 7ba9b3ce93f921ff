import type { Clock } from "@tandem/protocol";
import { DUE, WEBHOOKS, type RecordChange, type Store, type StoredRecord } from "@tandem/storage";
import type { Log } from "../host/host-settings.ts";
import { DatabaseWait } from "../host/database-wait.ts";
import { Timer } from "../host/timer.ts";
import { tryWrite } from "../host/until-written.ts";
import {
  DELIVERY,
  dueKey,
  logKey,
  parseDueKey,
  readDue,
  type DueDelivery,
  type LoggedDelivery,
} from "./delivery-record.ts";
import { readSuccess, STATUS, SUCCESS, type EndpointRecord, type EndpointStatus } from "./endpoint-record.ts";
import { pruneDeliveries } from "./prune-deliveries.ts";
import type { WebhookEndpoints } from "./webhook-endpoints.ts";
import type { SendResult, WebhookSender } from "./webhook-sender.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Waits before the second attempt and each further one, with a jitter of a fifth: about 24 hours together. */
const RETRIES_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  8 * HOUR,
];
const JITTER = 0.2;
/** Longer than an attempt may take: another process then repeats the attempt of one that died. */
const LEASE_MS = 30 * SECOND;
/** How often a process looks for deliveries that another one wrote. */
const LOOK_MS = 10 * SECOND;
const PRUNE_MS = HOUR;
/** Attempts of this process at once. The smaller number keeps a slow endpoint from delaying others. */
const PER_ENDPOINT = 4;
const IN_TOTAL = 32;

/** A due record that this process has claimed. */
interface Claim extends Pick<StoredRecord, "key" | "version"> {
  value: DueDelivery;
  /** When other processes may send the delivery. */
  until: number;
}

interface QueueParts {
  store: Pick<Store, "records" | "announcements">;
  endpoints: WebhookEndpoints;
  sender: WebhookSender;
  clock: Clock;
  log: Log;
}

/**
 * Delivers what the stores announced: each due record is one delivery to one endpoint. A process claims a record by its version
 * before it sends, so that processes of a fleet do not send the same attempt.
 */
export class DeliveryQueue {
  readonly #parts: QueueParts;
  readonly #timer: Timer;
  readonly #stop = new AbortController();
  readonly #attempts = new Map<string, Set<Promise<void>>>();
  #stopListening: (() => void) | undefined;
  #stopPruning: (() => void) | undefined;
  #scan: Promise<void> | undefined;
  #scanAgain = false;
  /** There was no endpoint: announcements of this process need no look. */
  #isIdle = false;

  constructor(parts: QueueParts) {
    this.#parts = parts;
    this.#timer = new Timer(parts.clock);
  }

  start(): void {
    const { store, clock } = this.#parts;
    this.#stopListening = store.announcements.onAdded(() => {
      if (!this.#isIdle) this.wake();
    });
    const prune = () => void this.#guarded(() => pruneDeliveries(this.#parts));
    this.#stopPruning = clock.every(PRUNE_MS, prune);
    prune();
    this.wake();
  }

  /** Resolves when no attempt is in flight. An attempt that this aborts is repeated by the next process. */
  async stop(): Promise<void> {
    this.#stopListening?.();
    this.#stopPruning?.();
    this.#timer.clear();
    this.#stop.abort();
    await this.#scan;
    await Promise.all([...this.#attempts.values()].flatMap((each) => [...each]));
  }

  /** Looks for due deliveries. */
  wake(): void {
    this.#isIdle = false;
    if (this.#stop.signal.aborted) return;
    if (this.#scan) {
      this.#scanAgain = true;
      return;
    }
    this.#scanAgain = false;
    this.#scan = this.#guarded(() => this.#look()).finally(() => {
      this.#scan = undefined;
      if (this.#scanAgain) this.wake();
    });
  }

  async #look(): Promise<void> {
    const { endpoints, sender, clock } = this.#parts;
    let next = clock.now() + LOOK_MS;
    // Set first: a failed read must not be the last one.
    this.#timer.set(LOOK_MS, () => this.wake());
    const enabled = (await endpoints.list()).filter((each) => each.state === "enabled" && sender.canSend(each));
    // Before the deliveries are read: a later announcement wakes this queue.
    this.#isIdle = enabled.length === 0;
    for (const endpoint of shuffled(enabled)) next = Math.min(next, await this.#begin(endpoint));
    this.#timer.set(Math.max(0, next - clock.now()), () => this.wake());
  }

  /** Begins the due attempts for an endpoint; returns when the next one is due. */
  async #begin(endpoint: EndpointRecord): Promise<number> {
    const { store, clock } = this.#parts;
    const running = this.#attempts.get(endpoint.id)?.size ?? 0;
    const free = Math.min(PER_ENDPOINT - running, IN_TOTAL - this.#running);
    // The end of an attempt wakes this queue.
    if (free <= 0) return Infinity;
    const records = await store.records.list(WEBHOOKS, DUE, { prefix: `${endpoint.id}/`, limit: free + 1 });
    for (const [index, record] of records.entries()) {
      const { at } = parseDueKey(record.key);
      const waitMs = at - clock.now();
      // A longer wait than any means that the clock was set back since: the delivery is due.
      if (waitMs > 0 && waitMs <= longestWait(readDue(record.value))) return at;
      if (index < free) await this.#claim(endpoint, record);
    }
    return Infinity;
  }

  get #running(): number {
    return [...this.#attempts.values()].reduce((sum, { size }) => sum + size, 0);
  }

  async #claim(endpoint: EndpointRecord, record: StoredRecord): Promise<void> {
    const now = this.#parts.clock.now();
    const due = readDue(record.value);
    const { event } = parseDueKey(record.key);
    const claimed: DueDelivery = { ...due, attempts: due.attempts + 1, first_at: due.first_at ?? now };
    const key = dueKey(endpoint.id, now + LEASE_MS, event);
    const isOurs = await this.#replace(record, [{ type: "put", kind: DUE, key, value: claimed, version: 0 }]);
    if (!isOurs || this.#stop.signal.aborted) return;
    const claim: Claim = { key, version: 1, value: claimed, until: now + LEASE_MS };
    const attempts = this.#attempts.get(endpoint.id) ?? new Set();
    this.#attempts.set(endpoint.id, attempts);
    const work = () => this.#attempt(endpoint, event, claim);
    const attempt: Promise<void> = this.#guarded(work).finally(() => {
      attempts.delete(attempt);
      if (attempts.size === 0) this.#attempts.delete(endpoint.id);
      this.wake();
    });
    attempts.add(attempt);
  }

  async #attempt(endpoint: EndpointRecord, event: string, claim: Claim): Promise<void> {
    const { sender, endpoints, clock } = this.#parts;
    const { value } = claim;
    const { announcement, created_at } = value;
    const result = await sender.send(endpoint, { id: event, announcement, created_at }, this.#stop.signal);
    if (result.type === "irrelevant") return this.#settle(claim, []);
    if (result.type !== "delivered" && this.#stop.signal.aborted) {
      // Our own exit says nothing about the endpoint.
      const again = { ...value, attempts: value.attempts - 1 };
      return this.#settle(claim, [{ type: "put", kind: DUE, key: dueKey(endpoint.id, 0, event), value: again }]);
    }
    const wait = result.type === "failed" ? RETRIES_MS[value.attempts - 1] : undefined;
    const retryAt = wait === undefined ? undefined : clock.now() + wait * (1 - JITTER + 2 * JITTER * Math.random());
    await this.#settle(claim, [
      ...(retryAt === undefined
        ? []
        : [{ type: "put" as const, kind: DUE, key: dueKey(endpoint.id, retryAt, event), value }]),
      ...this.record(endpoint, event, value, result, retryAt),
    ]);
    if (result.type === "delivered" || retryAt !== undefined) return;
    const { log } = this.#parts;
    log.warn(
      { endpoint: endpoint.id, event, attempts: value.attempts, why: result.detail },
      "a webhook failed its last attempt",
    );
    if (endpoint.kind !== "standard") return;
    if (result.type === "refused" && result.disables)
      await endpoints.disable(endpoint.id, `Disabled: ${result.detail}.`);
    else if (await this.#isFailing(endpoint, value)) {
      await endpoints.disable(
        endpoint.id,
        `Disabled: every delivery failed for a day. The last time, ${result.detail}.`,
      );
    }
  }

  /** The changes that log an attempt. */
  record(
    endpoint: EndpointRecord,
    event: string,
    { announcement, created_at, attempts }: DueDelivery,
    result: Exclude<SendResult, { type: "irrelevant" }>,
    retryAt?: number,
  ): RecordChange[] {
    const { clock } = this.#parts;
    const at = new Date(clock.now()).toISOString();
    const isDelivered = result.type === "delivered";
    const detail = isDelivered ? null : result.detail;
    const { status } = result;
    const logged: LoggedDelivery = {
      announcement,
      created_at,
      state: isDelivered ? "delivered" : retryAt === undefined ? "failed" : "pending",
      attempts,
      last_at: at,
      next_at: retryAt === undefined ? null : new Date(retryAt).toISOString(),
      status,
      detail,
    };
    const now: EndpointStatus = { at, delivered: isDelivered, status, detail };
    return [
      { type: "put", kind: STATUS, key: endpoint.id, value: now },
      ...(isDelivered ? [{ type: "put" as const, kind: SUCCESS, key: endpoint.id, value: { at: clock.now() } }] : []),
      // The log of the desktop would show nothing that its user has not seen.
      ...(endpoint.kind === "desktop"
        ? []
        : [{ type: "put" as const, kind: DELIVERY, key: logKey(endpoint.id, event), value: logged }]),
    ];
  }

  /** Whether nothing was delivered since the first attempt of this delivery, over the whole schedule. */
  async #isFailing({ id }: EndpointRecord, { first_at = 0, attempts }: DueDelivery): Promise<boolean> {
    if (attempts <= RETRIES_MS.length) return false;
    const success = await this.#parts.store.records.get(WEBHOOKS, SUCCESS, id);
    return !success || readSuccess(success.value).at < first_at;
  }

  /** Waits for an unavailable database while the claim lasts: afterwards, the delivery is sent again. */
  async #settle(claim: Claim, changes: readonly RecordChange[]): Promise<void> {
    const { clock } = this.#parts;
    const wait = new DatabaseWait(clock, claim.until - clock.now());
    const stop = (): void => wait.stop();
    this.#stop.signal.addEventListener("abort", stop, { once: true });
    if (this.#stop.signal.aborted) stop();
    try {
      await wait.run(() => this.#replace(claim, changes));
    } finally {
      this.#stop.signal.removeEventListener("abort", stop);
    }
  }

  /** Deletes a due record and applies the changes, unless another process has claimed it. */
  #replace(due: Pick<StoredRecord, "key" | "version">, changes: readonly RecordChange[]): Promise<boolean> {
    const { key, version } = due;
    return tryWrite(
      this.#parts.store.records.write(WEBHOOKS, [
        { type: "put", kind: DUE, key, value: null, version },
        { type: "delete", kind: DUE, key },
        ...changes,
      ]),
    );
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#parts.log.warn({ error: String(error) }, "webhooks could not be handled");
    }
  }
}

/** From an attempt to the next one, or to the end of its lease. A new delivery is due at once. Keys are rounded. */
const longestWait = ({ attempts }: DueDelivery): number =>
  SECOND + (attempts === 0 ? 0 : Math.max(LEASE_MS, (1 + JITTER) * (RETRIES_MS[attempts - 1] ?? 0)));

/** So that no endpoint is always the last one when there are many. */
const shuffled = <T>(items: readonly T[]): T[] =>
  items
    .map((item) => ({ item, order: Math.random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item);
