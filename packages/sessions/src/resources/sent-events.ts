import { isDeepStrictEqual } from "node:util";
import { RequestError, type ClientEvent, type SessionEvent } from "@tandem/protocol";
import type { SessionRow, Store } from "@tandem/storage";
import { isApproval } from "../approvals/outcome.ts";
import { readAnswers } from "../approvals/questions.ts";
import { standsAtBudget } from "../budgets/budget.ts";
import type { KillSwitch } from "../budgets/kill-switch.ts";
import type { SessionCommands } from "../commands/session-commands.ts";
import { expectedAnswer, readOpenTurn, waitingCalls } from "../log/open-turn.ts";
import { unansweredCalls } from "../log/unanswered-calls.ts";
import { checkOutcome, refuseSecondOutcome, type OutcomeCheck } from "../outcomes/check-outcome.ts";
import type { SessionOptions } from "./session-options.ts";

const ANSWERS: readonly string[] = ["user.tool_confirmation", "user.custom_tool_result", "user.tool_result"];
const RECENT_ANSWERS = 100;

interface SentEventsDependencies {
  store: Pick<Store, "events" | "files" | "inputQueue">;
  killSwitch: Pick<KillSwitch, "refuse">;
  commands: Pick<SessionCommands, "check" | "judgeShell">;
  queries: OutcomeCheck["queries"];
  options: Pick<SessionOptions, "message">;
}

/** Validates client events when they are sent, not when their turn starts. */
export class SentEvents {
  readonly #parts: SentEventsDependencies;

  constructor(parts: SentEventsDependencies) {
    this.#parts = parts;
  }

  /** Returns the events with commands and models resolved. */
  async check(row: SessionRow, events: readonly ClientEvent[]): Promise<ClientEvent[]> {
    const { commands, options } = this.#parts;
    checkSystemMessages(row, events);
    const hasOutcome = events.some(({ type }) => type === "user.define_outcome");
    const waiting = hasOutcome ? await this.#parts.store.inputQueue.list(row.id) : [];
    refuseSecondOutcome(events, "events", { row, waiting });
    for (const [index, event] of events.entries()) await this.#checkOne(row, event, `events[${index}]`, events);
    return Promise.all(
      events.map(async (event, index) => {
        const place = `events[${index}]`;
        if (event.type === "user.message") return options.message(await commands.check(row, event), place);
        if (event.type !== "user.define_outcome") return event;
        return checkOutcome(row, event, place, { ...this.#parts, files: this.#parts.store.files });
      }),
    );
  }

  /** The events with these ids, if the session has all of them. */
  async sentBefore(row: SessionRow, ids: readonly string[]): Promise<SessionEvent[] | undefined> {
    // Read the queue before the log: an event moved between the two reads is then seen twice, never lost.
    const waiting = await this.#parts.store.inputQueue.list(row.id);
    const found = await Promise.all(
      ids.map(
        async (id) =>
          waiting.find((event) => event.id === id) ?? (await this.#parts.store.events.find(row.id, id))?.event,
      ),
    );
    return found.every((event) => event !== undefined) ? found : undefined;
  }

  /** A client may repeat its answers after a timeout. Identical answers count as the first ones. */
  async answeredBefore(row: SessionRow, events: readonly ClientEvent[]): Promise<SessionEvent[] | undefined> {
    if (!events.every(isAnswer)) return undefined;
    // Read the queue before the log: an event moved between the two reads is then seen twice, never lost.
    const waiting = await this.#parts.store.inputQueue.list(row.id);
    const logged = await this.#parts.store.events.read(row.id, {
      order: "desc",
      limit: RECENT_ANSWERS,
      types: ANSWERS,
    });
    const known = [...logged.map(({ event }) => event), ...waiting];
    const given = events.map((event) => known.find((other) => isSameAnswer(event, other)));
    return given.every((event) => event !== undefined) ? given : undefined;
  }

  async #checkOne(row: SessionRow, event: ClientEvent, place: string, all: readonly ClientEvent[]): Promise<void> {
    switch (event.type) {
      case "user.define_outcome":
        return this.#checkTurn(row, place);
      case "user.message":
        await this.#checkTurn(row, place);
        for (const block of event.content) {
          if (block.type === "text" || block.source.type !== "file") continue;
          const { file_id: file } = block.source;
          if (!(await this.#parts.store.files.get(file))) throw invalid(`${place}.content: there is no file ${file}`);
        }
        return;
      case "system.message":
        if (all.length === 1 && (await standsAtBudget(this.#parts.store.events, row))) {
          throw invalid(`${place}: the session's budget is used up; raise it with an update first`);
        }
        return;
      case "user.interrupt":
        if (event.session_thread_id && event.session_thread_id !== row.primaryThread) {
          throw invalid(`${place}.session_thread_id: only the primary thread can be interrupted`);
        }
        return;
      case "user.tool_confirmation":
      case "user.tool_result":
        return this.#checkAnswer(row, event, `${place}.tool_use_id`, all);
      case "user.custom_tool_result":
        return this.#checkAnswer(row, event, `${place}.custom_tool_use_id`, all);
      default:
        return event satisfies never;
    }
  }

  /** Whether a turn may begin. */
  async #checkTurn(row: SessionRow, place: string): Promise<void> {
    await this.#parts.killSwitch.refuse();
    if (!(await standsAtBudget(this.#parts.store.events, row))) return;
    throw invalid(`${place}: the session's budget is used up; raise it with an update first`);
  }

  /** Whether a call waits for this kind of answer, according to the log: also correct after a restart. */
  async #checkAnswer(
    row: SessionRow,
    event: Extract<ClientEvent, { type: "user.tool_confirmation" | "user.custom_tool_result" | "user.tool_result" }>,
    place: string,
    all: readonly ClientEvent[],
  ): Promise<void> {
    const custom = event.type === "user.custom_tool_result";
    const id = custom ? event.custom_tool_use_id : event.tool_use_id;
    if (event.tandem) {
      throw invalid(
        `${place.replace(/\.\w+$/, ".tandem")}: answer with more than yes or no at POST /v1/approvals/${id}`,
      );
    }
    // Read the queue before the log: an answer moved between the two reads is then seen twice, never missed.
    const queued = await this.#parts.store.inputQueue.list(row.id);
    const turn = await readOpenTurn(this.#parts.store.events, row.id);
    const call = waitingCalls(turn).find(({ use }) => use.id === id);
    if (!call || expectedAnswer(call) !== event.type) {
      const hint = id.startsWith("toolu_")
        ? "; expected the id of the event (sevt_…), not the tool's"
        : otherHint(row, event);
      throw invalid(`${place}: no call ${id} waits for this answer${hint}`);
    }
    const thread = event.session_thread_id;
    if (thread && thread !== (call.thread ?? row.primaryThread)) {
      throw invalid(`${place.replace(/\.\w+$/, ".session_thread_id")}: the call ${id} is not of the thread ${thread}`);
    }
    if (custom && !event.is_error && isApproval(call)) readAnswers(call.use.input, event.content ?? []);
    const answers = [...all, ...queued].filter((other) => other.type === event.type && answersCall(other, id));
    if (answers.length > 1) throw invalid(`${place}: the call ${id} has been answered already`);
  }
}

const otherHint = ({ selfHosted }: SessionRow, { type }: ClientEvent): string =>
  type === "user.tool_result" && !selfHosted
    ? "; only self-hosted environments take results of built-in tools. Answer custom tools with user.custom_tool_result"
    : "";

const RESULTS: readonly string[] = ["user.custom_tool_result", "user.tool_result"];
const ACCOMPANIED: readonly string[] = ["user.message", ...RESULTS];

function checkSystemMessages(row: SessionRow, events: readonly ClientEvent[]): void {
  const index = events.findIndex(({ type }) => type === "system.message");
  if (index === -1) return;
  const place = `events[${index}]`;
  if (index !== events.length - 1) throw invalid(`${place}: a system.message must be the last event of a request`);
  const before = events[index - 1];
  if (before && !ACCOMPANIED.includes(before.type)) {
    throw invalid(`${place}: a system.message must follow ${ACCOMPANIED.join(" or ")}, or be sent alone`);
  }
  if (unansweredCalls(row).length > 0 && !(before && RESULTS.includes(before.type))) {
    throw invalid(`${place}: the session waits for an answer; send the system.message with a user.custom_tool_result`);
  }
}

/** A system message counts for the event that it accompanies, so it is taken first. */
export function inQueueOrder(events: readonly SessionEvent[]): SessionEvent[] {
  const order: SessionEvent[] = [];
  for (const event of events) order.splice(event.type === "system.message" ? -1 : order.length, 0, event);
  return order;
}

export const isAnswer = (event: ClientEvent): boolean => ANSWERS.includes(event.type);

const isSameAnswer = (event: ClientEvent, other: SessionEvent): boolean =>
  Object.entries(event).every(([key, value]) => isDeepStrictEqual(value, Reflect.get(other, key)));

const answersCall = (event: ClientEvent | SessionEvent, id: string): boolean =>
  ((event.type === "user.tool_confirmation" || event.type === "user.tool_result") && event.tool_use_id === id) ||
  (event.type === "user.custom_tool_result" && event.custom_tool_use_id === id);

const invalid = (message: string): RequestError => new RequestError("invalid_request", `${message}.`);
