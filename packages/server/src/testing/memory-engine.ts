import {
  isOnPrimary,
  newId,
  RequestError,
  type LiveDelta,
  type LoggedEvent,
  type SessionEvent,
  type SessionEventBody,
  type SessionId,
  type ThreadId,
} from "@tandem/protocol";
import { DeltaHub, type Engine, type FeedItem, type Sessions } from "@tandem/sessions";
import type { EncodedEvent, EventRange } from "@tandem/storage";
import { madeUpSession, madeUpThread } from "./made-up-session.ts";

/** The real engine reads at most a megabyte at a time. */
const FOLLOWED_AT_ONCE = 50;

/**
 * An engine whose events the test controls, for cases that a real one cannot produce on demand: a certain order, a
 * moment between two events, a database outage. It implements sessions and their logs only.
 */
export class MemoryEngine {
  /** URLs that admins have named. */
  readonly ownerUrls: string[] = [];
  readonly #logs = new Map<string, Log>();
  readonly #metadata = new Map<string, Record<string, string>>();
  readonly #deltas = new DeltaHub();
  readonly #feeds = new Set<(item: FeedItem) => void>();
  /** While set, `follow` and all reads reject with it. */
  failure: Error | undefined;
  /** Simulates a process that has not settled the previews of the last events of another process. */
  lagsBehind = false;
  /** Counts followers and preview listeners, so that a test can wait until they leave. */
  followers = 0;
  listeners = 0;
  /** Awaited by `send` before it stores the events, and before it returns. */
  beforeSend: () => Promise<void> = async () => undefined;
  afterSend: () => Promise<void> = async () => undefined;
  /** Replaces `models`. */
  models: Engine["models"] = async () => [{ id: "claude-sonnet-5-5", name: "Sonnet 5.5", aliases: ["sonnet"] }];

  createSession(metadata: Record<string, string> = {}): SessionId {
    const id = newId("session");
    this.#metadata.set(id, metadata);
    this.#logs.set(id, { events: [], waiting: [], wake: new Set(), primary: newId("thread"), threads: [], read: 0 });
    return id;
  }

  /** The number of a session's events that have been read. */
  read(session: SessionId): number {
    return this.#log(session).read;
  }

  createThread(session: SessionId): ThreadId {
    const id = newId("thread");
    this.#log(session).threads.push(id);
    return id;
  }

  append(
    session: SessionId,
    body: SessionEventBody,
    { thread = null, id = newId("event") }: { thread?: ThreadId | null; id?: string } = {},
  ): LoggedEvent {
    const log = this.#log(session);
    const event = { ...body, id, processed_at: new Date().toISOString() } as SessionEvent;
    const logged: LoggedEvent = { seq: log.events.length + 1, thread, event };
    this.#deltas.settle(session, [logged]);
    log.events.push(logged);
    log.waiting = log.waiting.filter((waiting) => waiting.id !== id);
    for (const wake of log.wake) wake();
    return logged;
  }

  /** Emits previews after followers have received earlier events, like the real engine. */
  async preview(session: SessionId, ...deltas: LiveDelta[]): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#deltas.publish(session, deltas);
  }

  /** Moves queued events into the log, as a turn would. */
  takeAll(session: SessionId): void {
    for (const { id, ...body } of this.#log(session).waiting) this.append(session, body, { id });
  }

  tellFeeds(item: FeedItem): void {
    for (const feed of this.#feeds) feed(item);
  }

  get engine(): Engine {
    const empty = async () => ({ data: [], next: null, previous: null });
    const none = async () => [];
    const done = async () => undefined;
    return withRefusals<Engine>({
      agents: { list: empty, versions: empty },
      environments: { list: empty },
      work: { sessions: none, isHeldWith: async () => true },
      environmentKeys: { forget: done },
      deployments: { list: empty, runs: { list: empty } },
      triggers: { list: none, deliveries: none, receive: done },
      vaults: { list: empty, credentials: { list: empty } },
      vaultLogins: {},
      messages: {},
      notifications: { list: none, test: none },
      webhooks: { list: none },
      approvals: { list: async () => ({ data: [], next: null }) },
      files: { list: empty },
      skills: { list: empty },
      memoryStores: { list: none, adoptFormer: done },
      sandboxHosts: { list: async () => ({ data: [], refused: [] }) },
      rules: {
        list: none,
        forget: done,
        rulesOf: async () => ({ judge: () => undefined, suggest: () => undefined, covers: () => false }),
      },
      budgets: { list: none, session: none, set: none },
      killSwitch: { state: done, resume: done, heed: async () => 0 },
      sessions: this.#sessions(),
      history: {},
      audit: {
        note: done,
        list: empty,
        export: async () => ({ head: NO_HEAD, entries: noEntries() }),
        verify: async () => ({ ok: true, entries: 0, head: NO_HEAD, broken: null }),
      },
      trust: {},
      fleet: { dead: none },
      mcpServers: { list: none },
      ownerUrls: { add: async (urls) => void this.ownerUrls.push(...urls) },
      runs: { load: { held: 0, busy: [] } },
      worktrees: { list: none, prune: async () => ({ removed: [], kept: [] }) },
      models: () => this.models(),
      start: done,
      stop: done,
    });
  }

  #sessions(): Listed<Sessions> {
    return {
      list: async () => ({ data: [], next: null, previous: null }),
      get: async (id) => this.#log(id) && { ...madeUpSession(id), metadata: this.#metadata.get(id) ?? {} },
      delete: async (id) => {
        const log = this.#log(id);
        this.#logs.delete(id);
        for (const wake of log.wake) wake();
      },
      send: async (id, events, _by, retry) => {
        const log = this.#log(id);
        const all = [...log.events.map(({ event }) => event), ...log.waiting];
        const sent = retry?.isResumed ? all.filter((event) => retry.ids.includes(event.id)) : [];
        if (sent.length > 0) return sent;
        const stored = events.map((event, index): SessionEvent => {
          const place = { id: retry?.ids[index] ?? newId("event"), processed_at: null };
          if (event.type !== "user.define_outcome") return { ...event, ...place };
          return { ...event, ...place, outcome_id: newId("outcome"), max_iterations: event.max_iterations ?? null };
        });
        await this.beforeSend();
        log.waiting.push(...stored);
        await this.afterSend();
        return stored;
      },
      events: async (id, range) => this.#read(id, range),
      encodedEvents: async (id, range) => {
        const page = this.#read(id, range);
        return { ...page, events: page.events.map(encode) };
      },
      head: async (id) => this.#log(id).events.length,
      position: async (id, event) => this.#log(id).events.find((entry) => entry.event.id === event)?.seq,
      follow: (id, after, signal) => this.#follow(id, after, signal),
      followEncoded: (id, after, signal) => this.#followEncoded(id, after, signal),
      opened: async () => {},
      onDelta: (id, listener) => {
        const stop = this.#deltas.listen(id, listener);
        this.listeners += 1;
        return () => {
          this.listeners -= 1;
          stop();
        };
      },
      previews: (id, after) => (this.lagsBehind ? undefined : this.#deltas.snapshot(id, after)),
      archiveThread: async (id, thread) => {
        const { primary, threads } = this.#log(id);
        const found = threads.find((own) => own === thread);
        if (!found) throw new RequestError("not_found", `There is no thread ${thread}.`);
        return { ...madeUpThread(id, found, primary), status: "terminated" };
      },
      threads: async (id) => {
        const { primary, threads } = this.#log(id);
        return [madeUpThread(id, primary, null), ...threads.map((own) => madeUpThread(id, own, primary))];
      },
      tasks: async () => [],
      commands: async () => [],
      commandsIn: async () => [],
      resources: {},
      folder: {},
      feed: (signal) => this.#feed(signal),
      usage: async () => [],
      modelUsage: async () => [],
    };
  }

  #log(id: string): Log {
    if (this.failure) throw this.failure;
    const log = this.#logs.get(id);
    if (!log) throw new RequestError("not_found", `There is no session ${id}.`);
    return log;
  }

  #read(id: string, range: EventRange): { events: LoggedEvent[]; waiting: SessionEvent[] } {
    const { after = 0, before = Infinity, order = "asc", limit, types, thread } = range;
    const { events: all, waiting } = this.#log(id);
    const fitting = all.filter(
      (logged) =>
        logged.seq > after &&
        logged.seq < before &&
        (types?.includes(logged.event.type) ?? true) &&
        (thread === undefined || logged.thread === thread),
    );
    const events = (order === "asc" ? fitting : fitting.toReversed()).slice(0, limit);
    this.#log(id).read += events.length;
    const isAtEnd = order === "asc" ? events.length < limit : range.before === undefined;
    return { events, waiting: isAtEnd ? waiting.filter(({ type }) => types?.includes(type) ?? true) : [] };
  }

  async *#follow(id: SessionId, after: number, signal: AbortSignal): AsyncGenerator<LoggedEvent[]> {
    let woken = Promise.withResolvers<void>();
    const wake = (): void => woken.resolve();
    const log = this.#log(id);
    log.wake.add(wake);
    signal.addEventListener("abort", wake, { once: true });
    this.followers += 1;
    try {
      for (let position = after; !signal.aborted && this.#logs.has(id);) {
        if (this.failure) throw this.failure;
        const events = log.events.slice(position, position + FOLLOWED_AT_ONCE);
        position += events.length;
        log.read += events.length;
        if (events.length > 0) yield events;
        else await woken.promise;
        woken = Promise.withResolvers<void>();
      }
    } finally {
      this.followers -= 1;
      log.wake.delete(wake);
    }
  }

  async *#followEncoded(id: SessionId, after: number, signal: AbortSignal): AsyncGenerator<EncodedEvent[]> {
    for await (const events of this.#follow(id, after, signal)) yield events.map(encode);
  }

  /** Makes followers observe `failure`. */
  wakeAll(): void {
    for (const { wake } of this.#logs.values()) for (const one of wake) one();
  }

  async *#feed(signal: AbortSignal): AsyncGenerator<FeedItem> {
    const items: FeedItem[] = [{ type: "snapshot", sessions: [] }];
    let woken = Promise.withResolvers<void>();
    const tell = (item: FeedItem): void => {
      items.push(item);
      woken.resolve();
    };
    this.#feeds.add(tell);
    signal.addEventListener("abort", () => woken.resolve(), { once: true });
    try {
      while (!signal.aborted) {
        for (let item = items.shift(); item; item = items.shift()) yield item;
        await woken.promise;
        woken = Promise.withResolvers<void>();
      }
    } finally {
      this.#feeds.delete(tell);
    }
  }
}

type Method = (...args: never[]) => unknown;

/** Some methods of an object and of those within it. */
type Listed<T> = T extends Method
  ? T
  : { readonly [Name in keyof T as T[Name] extends Method ? never : Name]: Listed<T[Name]> } & {
      readonly [Name in keyof T as T[Name] extends Method ? Name : never]?: T[Name];
    };

/** Methods that are not listed reject, at any depth. */
function withRefusals<T extends object>(listed: Listed<T>): T {
  const get = (target: object, name: string | symbol): unknown => {
    const found: unknown = Reflect.get(target, name);
    if (found !== undefined) return isPlain(found) ? new Proxy(found, { get }) : found;
    // A promise must not take it for another promise.
    return typeof name === "symbol" || name === "then" ? undefined : refuse;
  };
  return new Proxy(listed, { get }) as T;
}

const refuse = async (): Promise<never> => {
  throw new RequestError("not_found", "There is nothing here.");
};

const isPlain = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const encode = ({ seq, thread, event }: LoggedEvent): EncodedEvent => ({
  seq,
  thread,
  id: event.id,
  type: event.type,
  at: event.processed_at === null ? null : Date.parse(event.processed_at),
  isOnPrimary: isOnPrimary({ thread, event }),
  json: JSON.stringify(event),
});

const NO_HEAD = { seq: 0, hash: "0".repeat(64) };

async function* noEntries(): AsyncGenerator<never> {}

interface Log {
  events: LoggedEvent[];
  waiting: SessionEvent[];
  wake: Set<() => void>;
  primary: ThreadId;
  threads: ThreadId[];
  read: number;
}
