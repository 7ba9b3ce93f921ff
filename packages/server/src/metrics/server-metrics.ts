import type { IncomingMessage, ServerResponse } from "node:http";
import type { FleetStatus, SessionId } from "@tandem/protocol";
import { isJobPlace } from "@tandem/queue";
import type { EncodedEvent, EventLog } from "@tandem/storage";
import { MetricRegistry } from "./registry.ts";
import { SessionMetrics } from "./session-metrics.ts";

const HTTP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const LAG_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Several scrapers must not multiply the database queries. */
const FRESH_MS = 2_000;

/** Queried on each scrape. If one fails, its metrics keep their last values. */
export interface MetricSources {
  /** State that all processes of the fleet report alike. */
  fleet?: () => Promise<FleetStatus>;
  /** Claude Code processes of this server, and their memory. */
  processes?: () => Promise<{ count: number; bytes: number }>;
}

/** A store whose sessions this process may write. */
export interface WatchedStore {
  events: Pick<EventLog, "onAppend">;
  /** The sessions that this process holds. */
  held: () => Promise<readonly SessionId[]>;
}

/** All metrics of this process: names, counts and times, never content. */
export class ServerMetrics {
  readonly #registry = new MetricRegistry(() => this.#refresh());
  readonly #sources: MetricSources;
  readonly #sessions = new SessionMetrics(this.#registry);
  readonly #stores = new Set<WatchedStore>();
  readonly #fleet = fleetGauges(this.#registry);
  readonly #requests = this.#registry.counter("tandem_http_requests_total", "Requests that were answered", [
    "method",
    "status",
  ]);
  readonly #requestSeconds = this.#registry.histogram(
    "tandem_http_request_seconds",
    "How long they took, without streams",
    HTTP_SECONDS,
  );
  readonly #streams = this.#registry.gauge("tandem_streams_open", "Streams of events that are open");
  readonly #lag = this.#registry.histogram(
    "tandem_event_lag_seconds",
    "From when an event was written until it was here to be streamed, by the clocks of both machines",
    LAG_SECONDS,
  );
  readonly #process = processGauges(this.#registry);
  readonly #openStreams = new Set<() => number>();
  #collecting: Promise<void> | undefined;
  #collectedAt = -FRESH_MS;

  constructor(version: string, sources: MetricSources = {}) {
    this.#sources = sources;
    this.#registry.gauge("tandem_build_info", "Which version this is; always 1", ["version"]).set(1, { version });
  }

  get descriptions(): MetricRegistry["descriptions"] {
    return this.#registry.descriptions;
  }

  /** Counts events appended to this store. Returns a function that stops it. */
  watch(store: WatchedStore): () => void {
    this.#stores.add(store);
    const stop = store.events.onAppend((session, batch) => this.#sessions.note(session, batch));
    return () => {
      this.#stores.delete(store);
      stop();
    };
  }

  /** Registers a source for the number of open streams. */
  countStreams(count: () => number): void {
    this.#openStreams.add(count);
  }

  request(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const begun = performance.now();
    outgoing.once("close", () => {
      const status = outgoing.headersSent ? `${Math.floor(outgoing.statusCode / 100)}xx` : "none";
      this.#requests.add(1, { method: knownMethod(incoming.method), status });
      const isStream = String(outgoing.getHeader("content-type") ?? "").startsWith("text/event-stream");
      if (!isStream) this.#requestSeconds.record((performance.now() - begun) / 1_000);
    });
  }

  /** Counts an event that arrived to be streamed. */
  received({ at }: Pick<EncodedEvent, "at">): void {
    if (at !== null) this.#lag.record(Math.max(0, Date.now() - at) / 1_000);
  }

  text(): Promise<string> {
    return this.#registry.text();
  }

  async #refresh(): Promise<void> {
    if (performance.now() - this.#collectedAt <= FRESH_MS) return;
    this.#collecting ??= this.#collect().finally(() => (this.#collecting = undefined));
    await this.#collecting;
  }

  async #collect(): Promise<void> {
    const { fleet, processes } = this.#sources;
    await Promise.allSettled([
      fleet?.().then((status) => this.#fleet(status)),
      processes?.().then((running) => this.#process.claude(running)),
      Promise.all([...this.#stores].map(({ held }) => held())).then((held) =>
        this.#sessions.collect(new Set(held.flat())),
      ),
    ]);
    this.#process.own();
    this.#streams.set([...this.#openStreams].reduce((sum, count) => sum + count(), 0));
    this.#collectedAt = performance.now();
  }
}

/** Clients may send any method; an unbounded label would grow without limit. */
const knownMethod = (method = ""): string =>
  ["GET", "POST", "DELETE", "HEAD", "OPTIONS"].includes(method) ? method : "other";

function fleetGauges(registry: MetricRegistry): (status: FleetStatus) => void {
  const waiting = registry.gauge("tandem_queue_waiting", "Runs that wait for a worker, by place", ["place"]);
  const running = registry.gauge("tandem_queue_running", "Runs that are under way, by place", ["place"]);
  const oldest = registry.gauge("tandem_queue_oldest_seconds", "How long the oldest run has waited, by place", [
    "place",
  ]);
  const unserved = registry.gauge("tandem_queue_unserved", "Runs that wait and that no worker can take");
  const dead = registry.gauge("tandem_queue_dead", "Runs that failed their last attempt");
  const workers = registry.gauge("tandem_workers", "Processes of the fleet", ["role", "state"]);
  const abandoned = registry.gauge(
    "tandem_leases_abandoned",
    "Sessions whose holder died and that no process has taken over",
  );
  const limits = registry.gauge("tandem_account_limits", "Quotas of accounts that are used up now");
  return (status) => {
    for (const gauge of [waiting, running, oldest, workers]) gauge.clear();
    // One series for the jobs of all contexts: a series for each tenant would name ids, and be too many.
    const places = Map.groupBy(status.queue, ({ place }) => (isJobPlace(place) ? "context" : place));
    for (const [place, queues] of places) {
      waiting.set(sum(queues.map((queue) => queue.waiting)), { place });
      running.set(sum(queues.map((queue) => queue.running)), { place });
      oldest.set(Math.max(...queues.map((queue) => queue.oldest_ms ?? 0)) / 1_000, { place });
    }
    unserved.set(sum(status.queue.map((queue) => (queue.served ? 0 : queue.waiting))));
    dead.set(status.dead);
    const groups = Map.groupBy(status.workers, ({ role, state }) => `${role} ${state}`);
    for (const group of groups.values()) workers.set(group.length, { role: group[0]!.role, state: group[0]!.state });
    abandoned.set(status.leases.abandoned);
    limits.set(status.limits.length);
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function processGauges(registry: MetricRegistry) {
  const claude = registry.gauge("tandem_claude_processes", "Claude Code processes of this one");
  const claudeBytes = registry.gauge("tandem_claude_memory_bytes", "Memory that they take");
  const memory = registry.gauge("process_resident_memory_bytes", "Memory of this process");
  let cpuSeconds = 0;
  const cpu = registry.counter("process_cpu_seconds_total", "CPU time of this process");
  const start = registry.gauge("process_start_time_seconds", "When it started, in seconds since 1970");
  return {
    own: () => {
      memory.set(process.memoryUsage.rss());
      const { user, system } = process.cpuUsage();
      const now = (user + system) / 1_000_000;
      cpu.add(now - cpuSeconds);
      cpuSeconds = now;
      start.set(Math.round(performance.timeOrigin / 1_000));
    },
    claude: ({ count, bytes }: { count: number; bytes: number }) => {
      claude.set(count);
      claudeBytes.set(bytes);
    },
  };
}
