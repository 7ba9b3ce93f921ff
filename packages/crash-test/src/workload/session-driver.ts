import { setTimeout as sleep } from "node:timers/promises";
import type { History, Order, OrderKind, SeenEvent, SessionState } from "../operation-history.ts";
import { finalLog, isRequiresAction, isTurnEnd, waitsFor } from "../observed-log.ts";
import type { EffectSink } from "../observer/effect-sink.ts";
import type { SeededRandom } from "../seeded-random.ts";
import { answerCall, type AnswerPlan } from "./answer-call.ts";
import { isSuccess, type ApiClient, type Outcome } from "./api-client.ts";
import { orderText } from "../order-text.ts";

export interface DriverSettings {
  /** Two clients, so that both can answer one call. */
  clients: readonly [ApiClient, ApiClient];
  history: History;
  sink: EffectSink;
  random: SeededRandom;
  agents: Readonly<Record<OrderKind, string>>;
  environment: string;
  /** A session that is not idle after this time is stuck. */
  patienceMs: number;
  /** Between two reads of the log. */
  pollMs: number;
  /** Fires when the run is cancelled. */
  signal: AbortSignal;
  /** Whether the client leaves calls without an answer for now. */
  isHeld: () => boolean;
  /** Whether the next approval gets two different answers at once. */
  takeDoubleAnswer: () => boolean;
}

const AGAIN_MS = 150;
/** The longest time that a client waits before it answers, so that faults hit waiting calls. */
const THINK_MS = 500;

/** The clients of one session: they order work, answer calls and read the log, and record all of it. */
export class SessionDriver {
  readonly #settings: DriverSettings;
  readonly #name: string;
  readonly #plans = new Map<string, AnswerPlan>();
  #session: string | undefined;
  #orders = 0;
  #isStuck = false;
  state: SessionState = "idle";
  current: Order | undefined;
  /** The last event of the last turn. */
  lastEnd: string | undefined;

  constructor(settings: DriverSettings, name: string) {
    this.#settings = settings;
    this.#name = name;
  }

  get session(): string | undefined {
    return this.#session;
  }

  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** Creates the session. Repeats the request after a lost answer: a session too many does no harm. */
  async open(kind: OrderKind): Promise<void> {
    const { clients, agents, environment, history } = this.#settings;
    const body = { agent: agents[kind], environment_id: environment, title: this.#name };
    const id = await this.#persist("The session could not be created", () => clients[0].create("/v1/sessions", body));
    if (id === undefined) return;
    this.#session = id;
    history.created.push({ type: "session", id, isThere: true });
  }

  /** Sends one order and returns at the end of its turn, or when patience ends. */
  async run(kind: OrderKind): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    this.#orders += 1;
    const key = `ord-${this.#name}-${this.#orders}`;
    const order: Order = { key, kind, session, text: orderText(key, kind), sentAt: Date.now(), isAcknowledged: false };
    this.#settings.history.orders.push(order);
    this.current = order;
    if (await this.#say(order)) await this.#finish(order);
    order.endedAt = Date.now();
    this.current = undefined;
    this.state = "idle";
  }

  /** Reads the whole log once more. */
  async read(): Promise<boolean> {
    return (await this.#readLog(this.#settings.clients[0])) !== undefined;
  }

  /** After a lost answer, the client looks for its message before it sends it again. */
  async #say(order: Order): Promise<boolean> {
    const { clients } = this.#settings;
    let isFirst = true;
    const done = await this.#persist(`The message ${order.key} was not taken`, async () => {
      if (!isFirst) {
        const events = await this.#readLog(clients[0]);
        if (!events) return undefined;
        if (events.some(({ type, json }) => type === "user.message" && json.includes(order.text))) return true;
      }
      isFirst = false;
      const content = [{ type: "text", text: order.text }];
      // The request of a lost answer may still be carried out: the key says that this one is the same.
      const key = `${order.session}/${order.key}`;
      const outcome = await clients[0].send(order.session, { type: "user.message", content }, key);
      this.#acknowledge(order.session, outcome);
      if (outcome.type === "answered" && isSuccess(outcome.status)) order.isAcknowledged = true;
      return order.isAcknowledged || undefined;
    });
    return done === true;
  }

  async #finish(order: Order): Promise<void> {
    const { patienceMs, pollMs, signal, clients, random, history } = this.#settings;
    const startedAt = Date.now();
    let deadline = startedAt + patienceMs;
    let interruptAt = order.kind === "interrupt" ? Date.now() + random.between(100, 1_500) : undefined;
    let known = 0;
    while (!signal.aborted) {
      const events = await this.#readLog(clients[0]);
      // Patience counts from the last sign of progress: a fault every second would otherwise exhaust it.
      if (events && events.length > known) {
        known = events.length;
        deadline = Date.now() + patienceMs;
      }
      if (events && this.#isOver(events, order)) return;
      if (Date.now() > deadline) {
        const last = events?.slice(-4).map(({ type }) => type) ?? ["no answer from the server"];
        this.#isStuck = true;
        history.settled.push({
          session: order.session,
          isSettled: false,
          waitedMs: Date.now() - startedAt,
          detail: `${order.key} has no end; the last events are ${last.join(", ")}.`,
        });
        return;
      }
      if (events) await this.#answerOpenCalls(events, order);
      if (interruptAt !== undefined && Date.now() > interruptAt) {
        interruptAt = undefined;
        this.#acknowledge(order.session, await clients[0].send(order.session, { type: "user.interrupt" }));
      }
      await sleep(pollMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** The message is in the log, its turn has ended, and nothing is queued. */
  #isOver(events: readonly SeenEvent[], order: Order): boolean {
    const at = events.findIndex(({ type, json }) => type === "user.message" && json.includes(order.text));
    if (at === -1 || events.some(({ isQueued }) => isQueued)) return false;
    const status = events.slice(at).findLast(({ type }) => type.startsWith("session.status_"));
    if (!status || !isTurnEnd(status)) return false;
    const { history } = this.#settings;
    this.lastEnd = status.id;
    history.settled.push({ session: order.session, isSettled: true, waitedMs: Date.now() - order.sentAt, detail: "" });
    return true;
  }

  async #answerOpenCalls(events: readonly SeenEvent[], order: Order): Promise<void> {
    const { history, random, sink, clients, takeDoubleAnswer, isHeld } = this.#settings;
    const log = finalLog(history, order.session);
    const status = log.findLast(({ type }) => type.startsWith("session.status_"));
    if (!status || !isRequiresAction(status)) return;
    for (const call of waitsFor(status)) {
      const use = events.find(({ id }) => id === call);
      if (!use) continue;
      const plan = this.#plans.get(call) ?? {
        thinkUntil: Date.now() + random.between(0, THINK_MS),
        isDenied: random.next() < 0.3,
      };
      this.#plans.set(call, plan);
      this.state = use.type === "agent.custom_tool_use" ? "custom" : "approval";
      if (Date.now() < plan.thinkUntil || isHeld()) continue;
      const answers = await answerCall(use, { session: order.session, clients, plan, sink, takeDoubleAnswer });
      history.answers.push(...answers.map(({ record }) => record));
      for (const { outcome } of answers) this.#acknowledge(order.session, outcome);
      if (answers.some(({ record }) => record.outcome === "accepted")) this.state = "model";
    }
  }

  async #readLog(client: ApiClient): Promise<SeenEvent[] | undefined> {
    const session = this.#session;
    if (session === undefined) return undefined;
    const events = await client.events(session);
    if (!events) return undefined;
    const { reads } = this.#settings.history;
    const last = reads.findLast((read) => read.session === session);
    const isSame =
      last?.events.length === events.length && last.events.every(({ json }, i) => json === events[i]!.json);
    if (!isSame) reads.push({ session, at: Date.now(), events });
    return events;
  }

  #acknowledge(session: string, outcome: Outcome & { stored?: { id: string; type: string }[] }): void {
    for (const { id, type } of outcome.stored ?? []) {
      this.#settings.history.acknowledgements.push({ session, event: id, type });
    }
  }

  /** Repeats an attempt until it returns something. Undefined when patience ends or the run is cancelled. */
  async #persist<T>(failure: string, attempt: () => Promise<T | undefined>): Promise<T | undefined> {
    const { patienceMs, signal, history } = this.#settings;
    const startedAt = Date.now();
    while (!signal.aborted) {
      const result = await attempt();
      if (result !== undefined) return result;
      const waitedMs = Date.now() - startedAt;
      if (waitedMs > patienceMs) {
        this.#isStuck = true;
        history.settled.push({
          session: this.#session ?? this.#name,
          isSettled: false,
          waitedMs,
          detail: `${failure}.`,
        });
        return undefined;
      }
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
    return undefined;
  }
}
