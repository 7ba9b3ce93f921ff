import type { LoggedEvent, SessionEvent, SessionId } from "@tandem/protocol";
import type { MetricRegistry } from "./registry.ts";

/** Model requests take a second to minutes; turns up to hours. */
const REQUEST_SECONDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 300];
const TURN_SECONDS = [1, 2, 5, 10, 30, 60, 120, 300, 900, 3_600];

type State = "running" | "waiting" | "rescheduling";

const createMetrics = (registry: MetricRegistry) => ({
  turns: registry.counter("tandem_turns_total", "Turns that ended, by why", ["reason"]),
  turnSeconds: registry.histogram(
    "tandem_turn_seconds",
    "How long turns ran, without what they waited for people and quotas",
    TURN_SECONDS,
  ),
  events: registry.counter("tandem_events_total", "Events that were appended, by the first word of their type", [
    "kind",
  ]),
  requests: registry.counter("tandem_model_requests_total", "Requests of sessions to a model", ["model", "outcome"]),
  requestSeconds: registry.histogram(
    "tandem_model_request_seconds",
    "How long they took, to the end of the answer",
    REQUEST_SECONDS,
  ),
  tokens: registry.counter("tandem_tokens_total", "Tokens that sessions used", ["model", "type"]),
  cost: registry.counter("tandem_cost_usd_total", "Cost at list price, in US dollars", ["model"]),
  calls: registry.counter("tandem_tool_calls_total", "Tool calls that ended", ["type", "outcome"]),
  retries: registry.counter("tandem_retries_total", "Model requests that were made again, by status", ["status"]),
  limits: registry.counter("tandem_rate_limits_total", "Quotas that were met, by kind", ["kind"]),
  parked: registry.counter("tandem_parked_turns_total", "Turns that began to wait for a quota's reset"),
  recovered: registry.counter("tandem_recovered_turns_total", "Turns that were resumed after a crash"),
  sessions: registry.gauge("tandem_sessions", "Sessions that this process holds, by state", ["state"]),
  held: registry.gauge("tandem_leases_held", "Leases that this process holds"),
});

/** Counts the sessions of this process from the events that it appends to their logs. */
export class SessionMetrics {
  readonly #metrics: ReturnType<typeof createMetrics>;
  readonly #states = new Map<SessionId, { state: State; since: number; ranMs: number }>();
  /** Open requests and calls, by the id of the event that started them. */
  readonly #begun = new Map<string, { at: number; session: SessionId; type: string }>();

  constructor(registry: MetricRegistry) {
    this.#metrics = createMetrics(registry);
  }

  note(session: SessionId, batch: readonly LoggedEvent[]): void {
    for (const { event } of batch) this.#note(session, event, Date.now());
  }

  /** Updates the gauges for the held sessions and forgets all others. */
  collect(held: ReadonlySet<SessionId>): void {
    for (const session of this.#states.keys()) if (!held.has(session)) this.#states.delete(session);
    for (const [id, { session }] of this.#begun) if (!held.has(session)) this.#begun.delete(id);
    const counts = { running: 0, waiting: 0, rescheduling: 0, idle: held.size - this.#states.size };
    for (const { state } of this.#states.values()) counts[state] += 1;
    for (const [state, count] of Object.entries(counts)) this.#metrics.sessions.set(count, { state });
    this.#metrics.held.set(held.size);
  }

  #note(session: SessionId, event: SessionEvent, now: number): void {
    this.#metrics.events.add(1, { kind: event.type.split(".", 1)[0]! });
    switch (event.type) {
      case "session.status_running":
        return this.#enter(session, "running", now);
      case "session.status_rescheduled":
        return this.#enter(session, "rescheduling", now);
      case "session.status_idle":
        if (event.stop_reason.type === "requires_action") return this.#enter(session, "waiting", now);
        this.#metrics.turns.add(1, { reason: event.stop_reason.type });
        return this.#end(session, now);
      case "session.status_terminated":
      case "session.deleted":
        return void this.#states.delete(session);
      case "span.model_request_start":
        return void this.#begun.set(event.id, { at: now, session, type: "" });
      case "span.model_request_end": {
        const { model = "unknown", usd = 0 } = event.tandem;
        this.#metrics.requests.add(1, { model, outcome: event.is_error ? "error" : "ok" });
        const begun = this.#take(event.model_request_start_id);
        if (begun) this.#metrics.requestSeconds.record((now - begun.at) / 1_000);
        const { model_usage: usage } = event;
        this.#metrics.tokens.add(usage.input_tokens, { model, type: "input" });
        this.#metrics.tokens.add(usage.output_tokens, { model, type: "output" });
        this.#metrics.tokens.add(usage.cache_read_input_tokens, { model, type: "cache_read" });
        this.#metrics.tokens.add(usage.cache_creation_input_tokens, { model, type: "cache_write" });
        return this.#metrics.cost.add(usd, { model });
      }
      case "agent.tool_use":
      case "agent.mcp_tool_use":
      case "agent.custom_tool_use": {
        const type = { "agent.tool_use": "built_in", "agent.mcp_tool_use": "mcp", "agent.custom_tool_use": "custom" };
        return void this.#begun.set(event.id, { at: now, session, type: type[event.type] });
      }
      case "agent.tool_result":
        return this.#called(event.tool_use_id, "built_in", event.is_error);
      case "agent.mcp_tool_result":
        return this.#called(event.mcp_tool_use_id, "mcp", event.is_error);
      case "user.custom_tool_result":
        return this.#called(event.custom_tool_use_id, "custom", event.is_error);
      case "tandem.retry":
        return this.#metrics.retries.add(1, { status: String(event.status ?? "none") });
      case "tandem.rate_limit":
        return event.status === "rejected" ? this.#metrics.limits.add(1, { kind: event.kind ?? "unknown" }) : undefined;
      case "tandem.parked":
        return this.#metrics.parked.add(1);
      case "tandem.recovered":
        return this.#metrics.recovered.add(1);
      default:
    }
  }

  #enter(session: SessionId, state: State, now: number): void {
    const before = this.#states.get(session);
    const ranMs = (before?.ranMs ?? 0) + (before?.state === "running" ? now - before.since : 0);
    this.#states.set(session, { state, since: now, ranMs });
  }

  #end(session: SessionId, now: number): void {
    this.#enter(session, "waiting", now);
    this.#metrics.turnSeconds.record(this.#states.get(session)!.ranMs / 1_000);
    this.#states.delete(session);
  }

  #called(id: string, type: string, failed: boolean | null | undefined): void {
    this.#take(id);
    this.#metrics.calls.add(1, { type, outcome: failed ? "error" : "ok" });
  }

  #take(id: string): { at: number } | undefined {
    const begun = this.#begun.get(id);
    this.#begun.delete(id);
    return begun;
  }
}
