import type { LoggedEvent, SessionId } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import { readFile } from "node:fs/promises";
import { judgeSession } from "../../packages/sessions/src/testing/judge-session.ts";
import { answerTo, effectsFile } from "./chaos-model.ts";
import type { ChaosSession } from "./chaos-session.ts";

export interface SessionReport {
  problems: string[];
  /** Answered messages, and messages whose turn ended with a reason. */
  answered: number;
  endedHonestly: number;
  /** Tool calls with a logged unknown outcome. */
  unknown: number;
  recovered: number;
  handedOver: number;
  events: number;
  /** A short log, if there are problems. */
  log: string[];
}

/** Compares a session's log with its client's messages and stream and with its tools' effects. */
export async function judgeChaos(store: Store, session: ChaosSession, folder: string): Promise<SessionReport> {
  const { id, name } = session;
  const verdict: SessionReport = {
    problems: [],
    answered: 0,
    endedHonestly: 0,
    unknown: 0,
    recovered: 0,
    handedOver: 0,
    events: 0,
    log: [],
  };
  if (id === undefined) return verdict;
  const sent = session.orders.map((order) => order.id);
  const row = await store.sessions.get(id);
  if (!row) return { ...verdict, problems: [`${name} is gone`] };
  const events = await store.events.read(id as SessionId, { limit: 10_000 });
  const problems = [
    ...(await judgeSession({ store }, row, sent)),
    ...doubled(events),
    ...missedByStream(session, events),
    ...(await effects(events, session, folder)),
  ];
  if (row.status !== "idle" || row.waitingFor.length > 0) problems.push(`it is ${row.status}, and not at rest`);
  for (const { key, id: message } of session.orders) {
    const end = endOf(events, message, answerTo(key));
    if (end === "answered") verdict.answered += 1;
    else if (end === "honest") verdict.endedHonestly += 1;
    else problems.push(`${key} has neither an answer nor an end`);
  }
  return {
    ...verdict,
    problems: problems.map((problem) => `${name} ${id}: ${problem}`),
    unknown: events.filter(({ event }) => isFailed(event)).length,
    recovered: events.filter(({ event }) => event.type === "tandem.recovered").length,
    handedOver: events.filter(({ event }) => event.type === "tandem.handover").length,
    events: events.length,
    log: problems.length > 0 ? [`${name} ${id}`, ...events.map(line)] : [],
  };
}

type Event = LoggedEvent["event"];
const line = ({ seq, event }: LoggedEvent): string => `${seq} ${event.type} ${JSON.stringify(event).slice(0, 300)}`;
const hasSucceeded = (result: Event | undefined): boolean => result !== undefined && !isFailed(result);
const isFailed = (event: Event): boolean => event.type === "agent.tool_result" && event.is_error === true;

function doubled(events: readonly LoggedEvent[]): string[] {
  const ids = new Set<string>();
  const answers = new Set<string>();
  return events.flatMap(({ event }) => {
    const found: string[] = [];
    if (ids.has(event.id)) found.push(`${event.type} ${event.id} is there twice`);
    ids.add(event.id);
    const answered =
      event.type === "user.tool_confirmation"
        ? event.tool_use_id
        : event.type === "user.custom_tool_result"
          ? event.custom_tool_use_id
          : event.type === "agent.tool_result"
            ? `result of ${event.tool_use_id}`
            : undefined;
    if (answered === undefined) return found;
    if (answers.has(answered)) found.push(`${answered} is answered twice`);
    answers.add(answered);
    return found;
  });
}

function endOf(events: readonly LoggedEvent[], message: string, answer: string): "answered" | "honest" | undefined {
  const begin = events.findIndex(({ event }) => event.id === message);
  if (begin < 0) return undefined;
  for (const { event } of events.slice(begin)) {
    if (event.type === "agent.message" && JSON.stringify(event.content).includes(answer)) return "answered";
    // An interrupted model may not respond; the log then says that it was interrupted.
    if (event.type === "session.error") return "honest";
  }
  return undefined;
}

/** Every stream delivered the log exactly once and in order, over any number of servers. */
function missedByStream({ follower }: ChaosSession, events: readonly LoggedEvent[]): string[] {
  const seen = follower?.seen ?? [];
  const places = new Map(events.map(({ event }, index) => [event.id as string, index]));
  const shown = new Set(seen.map(({ id }) => id));
  const strange = seen.filter(({ id }) => !places.has(id));
  const order = seen.flatMap(({ id }) => places.get(id) ?? []);
  const missed = events.filter(({ event }) => !shown.has(event.id) && !event.type.startsWith("tandem."));
  return [
    ...strange.map(({ type, id }) => `a stream showed ${type} ${id}, which is not in the log`),
    ...(shown.size === seen.length ? [] : [`a stream showed ${seen.length - shown.size} events twice`]),
    ...(order.every((place, index) => index === 0 || place > order[index - 1]!) ? [] : ["a stream was out of order"]),
    ...missed.map(({ event, seq }) => `no stream showed ${event.type} at ${seq}`),
  ];
}

/** Each tool call had its effect exactly once; with an unknown outcome, at most once. */
async function effects(events: readonly LoggedEvent[], session: ChaosSession, folder: string): Promise<string[]> {
  const lines = (await readFile(effectsFile(folder, `${session.name}-`), "utf8").catch(() => ""))
    .split("\n")
    .filter(Boolean);
  const results = new Map(
    events.flatMap(({ event }) =>
      event.type === "agent.tool_result" ? [[event.tool_use_id as string, event] as const] : [],
    ),
  );
  const calls = events.flatMap(({ event }) => {
    if (event.type !== "agent.tool_use") return [];
    const key = /echo (s\d+-m\d+)/.exec(JSON.stringify(event.input))?.[1];
    return key ? [{ key, isSure: hasSucceeded(results.get(event.id)) }] : [];
  });
  return [...new Set([...lines, ...calls.map(({ key }) => key)])].flatMap((key) => {
    const done = lines.filter((line) => line === key).length;
    const of = calls.filter((call) => call.key === key);
    const sure = of.filter(({ isSure }) => isSure).length;
    return done >= sure && done <= of.length
      ? []
      : [`${key} was done ${done} times; the log has ${of.length} calls, ${sure} of them with a result`];
  });
}
