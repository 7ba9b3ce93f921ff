import {
  newId,
  RequestError,
  type Environment,
  type SessionResourceParams,
  type TokenId,
  type Work,
  type WorkHeartbeat,
  type WorkStats,
  isoNow,
  sleep,
  type Clock,
} from "@tandem/protocol";
import type { Page, SessionRow, Store } from "@tandem/storage";
import { mergeMetadata } from "../host/merge-metadata.ts";
import {
  beaten,
  claimed,
  heartbeatView,
  isExpired,
  isFree,
  iso,
  newWorkItem,
  RECLAIM_MS,
  workView,
  type WorkItem,
} from "./work-item.ts";
import { WorkStore, type StoredWork } from "./work-store.ts";
import { newWorkerToken } from "./worker-token.ts";

/** Claude's clients send a heartbeat every 30 seconds, so a worker may miss two of them. */
const LEASE_MS = 90_000;
/** Another process of a fleet may queue an item. */
const LOOK_MS = 250;
const POLLING_MS = 30_000;
/** Workers leave a session after a minute without events. One that does not is asked to. */
const IDLE_MS = 3 * 60_000;
const TRIES = 20;
/** Stopped items are kept so long, for those who ask what became of them. */
const KEEP_MS = 30 * 24 * 60 * 60_000;
const PRUNE_MS = 6 * 60 * 60_000;

interface Poll {
  blockMs: number;
  reclaimMs?: number | undefined;
  worker?: string | undefined;
  signal: AbortSignal;
}

export interface WorkSettings {
  /** How long a worker holds an item without a heartbeat. */
  workLease?: number;
}

interface WorkDependencies {
  store: Pick<Store, "records" | "sessions" | "inputQueue" | "tokens">;
  environment: (id: string) => Promise<Environment>;
  tenant: string;
  settings: WorkSettings & { hooks?: readonly { on: string }[] | undefined };
  clock: Clock;
}

/** The queue of a self-hosted environment: each item lets one worker run the tools of one session. */
export class WorkQueue {
  readonly #dependencies: WorkDependencies;
  readonly #work: WorkStore;
  /** When each worker's poll was last recorded. */
  readonly #polls = new Map<string, number>();
  #wake = new AbortController();
  #stopPruning = (): void => {};

  constructor(dependencies: WorkDependencies) {
    this.#dependencies = dependencies;
    this.#work = new WorkStore(dependencies.store.records);
  }

  /** Prunes now and from time to time. Several processes of a fleet may do so. */
  start(): void {
    const prune = (): void => void this.#prune().catch(() => undefined);
    this.#stopPruning = this.#dependencies.clock.every(PRUNE_MS, prune);
    prune();
  }

  stopPruning(): void {
    this.#stopPruning();
  }

  #prune(): Promise<void> {
    const now = this.#dependencies.clock.now();
    return this.#work.prune({ stopped: iso(now - KEEP_MS), polled: now - POLLING_MS });
  }

  /** Refuses what a session in a self-hosted environment cannot have. */
  check(resources: readonly Pick<SessionResourceParams, "type">[]): void {
    const index = resources.findIndex(({ type }) => type !== "memory_store");
    if (index !== -1) {
      throw new RequestError(
        "invalid_request",
        `resources[${index}].type: a self-hosted environment takes memory stores only.`,
        { fix: "Let the worker fetch files and repositories.", detail: "self_hosted_resources_unsupported" },
      );
    }
    if (this.#dependencies.settings.hooks?.some(({ on }) => on === "beforeTool")) {
      throw new RequestError(
        "invalid_request",
        "A hook of this server decides about tool calls (`on: beforeTool`). It could not stop a worker in time.",
        { fix: "Remove the hook, or use an environment whose tools run here." },
      );
    }
  }

  /** Queues an item for a session of a self-hosted environment, unless it has one that has not stopped. */
  async request(row: Pick<SessionRow, "id" | "environmentId" | "selfHosted">): Promise<void> {
    if (!row.selfHosted) return;
    await this.#again(async () => {
      const known = await this.#work.ofSession(row.environmentId, row.id);
      const now = this.#dependencies.clock.now();
      if (!known) {
        const id = newId("work", now);
        const ttlMs = this.#dependencies.settings.workLease ?? LEASE_MS;
        return this.#work.create(newWorkItem({ id, environment: row.environmentId, session: row.id, ttlMs }, now));
      }
      if (known.item.state !== "stopping" || known.item.isNeeded) return true;
      const item = { ...known.item, isNeeded: true };
      return isExpired(item, now) ? this.#stop(known, item) : this.#work.change(known, item);
    });
    this.#announce();
  }

  /** The session was archived or deleted. Its worker leaves at its next heartbeat. */
  async end(row: Pick<SessionRow, "id" | "environmentId" | "selfHosted">): Promise<void> {
    if (!row.selfHosted) return;
    await this.#again(async () => {
      const known = await this.#work.ofSession(row.environmentId, row.id);
      return !known || known.item.state === "stopping" || this.#requestStop(known, false);
    });
  }

  /** Takes an item that waits for a worker, or undefined if none comes in time. */
  async poll(environment: string, { blockMs, reclaimMs, worker, signal }: Poll): Promise<Work | null> {
    await this.checkEnvironment(environment);
    const { clock } = this.#dependencies;
    if (worker !== undefined) await this.#notePoll(environment, worker);
    for (const until = clock.monotonic() + blockMs; ;) {
      const woken = this.#wake.signal;
      const work = await this.#claim(environment, reclaimMs ?? RECLAIM_MS);
      const left = until - clock.monotonic();
      if (work || left <= 0 || signal.aborted) return work;
      await sleep(clock, Math.min(left, LOOK_MS), { signal: AbortSignal.any([signal, woken]), keepsProcess: true });
    }
  }

  async ack(environment: string, id: string): Promise<Work> {
    return this.#change(environment, id, (item, now) => {
      // A repeated request, whose answer was lost.
      if (item.state === "starting" && item.heartbeatAt === null) return item;
      if (item.state !== "queued") throw conflict(item, "acknowledged");
      return { ...item, state: "starting", acknowledgedAt: iso(now) };
    }).then((item) => workView(item));
  }

  async heartbeat(environment: string, id: string, beat: Parameters<typeof beaten>[1]): Promise<WorkHeartbeat> {
    const isOver = await this.#isOver((await this.#found(environment, id)).item);
    const item = await this.#change(environment, id, (current, now) => {
      const next = beaten(current, beat, now);
      return isOver && next.state === "active" ? { ...next, state: "stopping", stopRequestedAt: iso(now) } : next;
    });
    return heartbeatView(item, this.#dependencies.clock.now());
  }

  /** `byWorker`: the worker itself gives the item up. If its session still needs a worker, another item is queued. */
  async stop(environment: string, id: string, how: { force: boolean; byWorker: boolean }): Promise<Work> {
    await this.#again(async () => {
      const known = await this.#found(environment, id);
      const { state } = known.item;
      if (state === "stopped") throw conflict(known.item, "stopped");
      if (!how.force) return state === "stopping" || this.#requestStop(known, false);
      const givesUp = how.byWorker && (state === "starting" || state === "active");
      const isNeeded = known.item.isNeeded || (givesUp && (await this.#isWaiting(known.item)));
      return this.#stop(known, { ...known.item, isNeeded });
    });
    return this.get(environment, id);
  }

  async list(environment: string, query: { limit: number; cursor?: string | undefined }): Promise<Page<Work>> {
    await this.checkEnvironment(environment);
    const { items, next } = await this.#work.list(environment, query);
    return { data: items.map((item) => workView(item)), next, previous: null };
  }

  async get(environment: string, id: string): Promise<Work> {
    return workView((await this.#found(environment, id)).item);
  }

  async update(environment: string, id: string, metadata: Record<string, string | null> | null | undefined) {
    const item = await this.#change(environment, id, (current) => ({
      ...current,
      metadata: mergeMetadata(current.metadata, metadata),
    }));
    return workView(item);
  }

  async stats(environment: string): Promise<WorkStats> {
    await this.checkEnvironment(environment);
    const now = this.#dependencies.clock.now();
    const items = (await this.#work.live(environment)).map(({ item }) => item);
    const queued = items.filter((item) => item.state === "queued" || isFree(item, now));
    const depth = queued.filter((item) => isFree(item, now)).length;
    return {
      type: "work_queue_stats",
      depth,
      pending: queued.length - depth,
      oldest_queued_at: queued[0]?.createdAt ?? null,
      workers_polling: await this.#work.pollers(environment, now - POLLING_MS),
    };
  }

  /** The sessions of items that have not stopped. */
  async sessions(environment: string): Promise<string[]> {
    return (await this.#work.live(environment)).map(({ item }) => item.session);
  }

  /**
   * Whether this is the token of the item's present worker. A token can outlive its item for a moment, and for longer if this
   * process is killed before it deletes the token.
   */
  async isHeldWith(environment: string, id: string, token: string): Promise<boolean> {
    const item = (await this.#work.get(environment, id))?.item;
    return item !== undefined && item.state !== "stopped" && item.tokens.at(-1) === token;
  }

  /** Rejects if there is no such self-hosted environment. */
  async checkEnvironment(id: string): Promise<void> {
    const { config } = await this.#dependencies.environment(id);
    if (config.type === "self_hosted") return;
    throw new RequestError(
      "invalid_request",
      "This environment is not self-hosted, so it has no work queue: Tandem runs the tools itself.",
      { fix: 'Create one with `config: {"type": "self_hosted"}`.' },
    );
  }

  async #claim(environment: string, reclaimMs: number): Promise<Work | null> {
    const { store, tenant, clock } = this.#dependencies;
    for (const known of await this.#work.live(environment)) {
      const now = clock.now();
      if (known.item.state === "stopping" && isExpired(known.item, now)) await this.#stop(known, known.item);
      if (!isFree(known.item, now, reclaimMs)) continue;
      const { id, session } = known.item;
      const access = { environment, work: { id, session } };
      const { secret, row } = newWorkerToken({ tenant, name: `worker of ${id}`, worker: access }, isoNow(clock));
      const item = claimed(known.item, row.id, now);
      if (!(await this.#work.change(known, item))) continue;
      for (const former of known.item.tokens) await store.tokens.delete(former as TokenId);
      await store.tokens.create(row);
      return workView(item, Buffer.from(JSON.stringify({ sessions_token: secret })).toString("base64url"));
    }
    return null;
  }

  /** Without a worker, an item stops at once. */
  #requestStop(known: StoredWork, isNeeded: boolean): Promise<boolean> {
    const now = this.#dependencies.clock.now();
    const item: WorkItem = { ...known.item, isNeeded, stopRequestedAt: iso(now) };
    const isHeld = item.state !== "queued" || item.claimedAt !== null;
    return isHeld ? this.#work.change(known, { ...item, state: "stopping" }) : this.#stop(known, item);
  }

  async #stop(known: StoredWork, item: WorkItem): Promise<boolean> {
    const { store, clock } = this.#dependencies;
    const at = iso(clock.now());
    const stopped: WorkItem = { ...item, state: "stopped", stoppedAt: at, stopRequestedAt: item.stopRequestedAt ?? at };
    if (!(await this.#work.stop(known, stopped, item.isNeeded, clock.now()))) return false;
    for (const token of item.tokens) await store.tokens.delete(token as TokenId);
    if (item.isNeeded) this.#announce();
    return true;
  }

  /** Whether a turn of the session runs or waits for a worker. */
  async #isWaiting({ session }: WorkItem): Promise<boolean> {
    const row = await this.#dependencies.store.sessions.get(session);
    if (!row || row.archivedAt) return false;
    const isRunning = row.status === "running" || row.status === "rescheduling";
    return isRunning || row.waitingFor.some(({ type }) => type === "tool_result");
  }

  /** Whether the session has no use for a worker any more. */
  async #isOver({ session }: WorkItem): Promise<boolean> {
    const { store, clock } = this.#dependencies;
    const row = await store.sessions.get(session);
    if (!row || row.archivedAt || row.status === "terminated") return true;
    const isQuiet = row.status === "idle" && row.waitingFor.length === 0;
    if (!isQuiet || clock.now() - Date.parse(row.updatedAt) < IDLE_MS) return false;
    return (await store.inputQueue.list(row.id)).length === 0;
  }

  async #notePoll(environment: string, worker: string): Promise<void> {
    const key = `${environment}/${worker.slice(0, 200)}`;
    const now = this.#dependencies.clock.now();
    if (now - (this.#polls.get(key) ?? -Infinity) < POLLING_MS / 3) return;
    for (const [known, at] of this.#polls) if (now - at > POLLING_MS) this.#polls.delete(known);
    this.#polls.set(key, now);
    await this.#work.notePoll(environment, worker.slice(0, 200), now);
  }

  async #found(environment: string, id: string): Promise<StoredWork> {
    await this.checkEnvironment(environment);
    const found = await this.#work.get(environment, id);
    if (found) return found;
    throw new RequestError("not_found", `The environment ${environment} has no work item ${id}.`);
  }

  async #change(environment: string, id: string, change: (item: WorkItem, now: number) => WorkItem): Promise<WorkItem> {
    let changed: WorkItem | undefined;
    await this.#again(async () => {
      const known = await this.#found(environment, id);
      changed = change(known.item, this.#dependencies.clock.now());
      return changed === known.item || this.#work.change(known, changed);
    });
    return changed!;
  }

  /** Repeats a change that another writer forestalled. */
  async #again(attempt: () => Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < TRIES; tries += 1) if (await attempt()) return;
    throw new RequestError("unavailable", "The work item is being changed by others.", { fix: "Try again." });
  }

  /** Lets waiting polls look again. */
  #announce(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }
}

export type WorkQueues = Omit<WorkQueue, "start" | "stopPruning" | "check" | "request" | "end" | "checkEnvironment">;

const conflict = ({ id, state }: WorkItem, wanted: string): RequestError =>
  new RequestError("conflict", `The work item ${id} is ${state} and cannot be ${wanted}.`);
