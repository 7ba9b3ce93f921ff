import type { PastFacts } from "@tandem/claude-code";
import {
  newId,
  SESSION_METADATA,
  threadAgent,
  type Agent,
  type EventId,
  type EventOf,
  type SessionEventBody,
  type SessionId,
  type ThreadId,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import type { SessionRow, Store, ThreadRow, TranscriptLine } from "@tandem/storage";
import { messageUuid } from "../turn/lost-messages.ts";
import { foldOutcome } from "../log/session-outcome.ts";
import { Threads } from "../log/threads.ts";
import { noUsageYet } from "../log/usage-ledger.ts";
import { copyTranscripts } from "./copy-transcripts.ts";
import type { PastLog, PlacedEvent } from "./past-log.ts";

const TITLE_LENGTH = 80;

/** A foreign conversation that was read. */
export interface ReadPast {
  from: EventOf<"tandem.imported">["from"];
  /** Claude Code's id of the conversation. */
  claudeSession: string | undefined;
  events: PlacedEvent[];
  log: PastLog;
  facts: PastFacts;
  /** As they are on disk; empty if it cannot be resumed. */
  transcripts: Map<string, TranscriptLine[]>;
  /** Messages by the `uuid` of their lines. */
  messages: ReadonlyMap<string, EventId>;
  primaryThread: ThreadId;
  lines: number;
  unreadable: number;
}

export interface ImportTarget {
  /** The agent that continues it. */
  agent: Agent;
  /** The folder and environment to continue in; undefined if the original folder is unknown. */
  place: (folder: string | undefined) => Promise<{ folder: string; environmentId: string }>;
  clock: Clock;
}

/**
 * Creates a session with that history. Its usage starts at zero, because it was paid elsewhere. Returns the number of events.
 */
export async function restorePast(
  store: Store,
  id: SessionId,
  read: ReadPast,
  { agent, place, clock }: ImportTarget,
): Promise<number> {
  const { facts, primaryThread, transcripts } = read;
  const { folder, environmentId } = await place(facts.folder);
  const createdAt = facts.begunAt ?? isoNow(clock);
  const claudeSession = messageUuid(primaryThread);
  const origin = [read.from, read.claudeSession].filter(Boolean).join(":");
  const row: SessionRow = {
    id,
    status: "idle",
    environmentId,
    folder,
    primaryThread,
    place: null,
    claudeSession: transcripts.size > 0 ? claudeSession : undefined,
    agent: { ...threadAgent.parse(agent), multiagent: null },
    title: titleOf(facts),
    metadata: { [SESSION_METADATA.importedFrom]: origin },
    resources: [],
    budget: null,
    usage: noUsageYet(),
    activeMs: 0,
    waitingFor: [],
    createdAt,
    updatedAt: facts.lastAt ?? createdAt,
    archivedAt: null,
  };
  const events = [...headOf(read, folder, clock), ...paidElsewhere(read.events)];
  const primary: ThreadRow = {
    id: primaryThread,
    session: id,
    parent: null,
    agent: threadAgent.parse(agent),
    status: "idle",
    usage: null,
    createdAt,
    updatedAt: row.updatedAt,
    archivedAt: null,
  };
  await store.sessions.restore({
    session: { ...row, outcome: foldOutcome(null, events) },
    threads: [primary, ...threadsOf(row, [primary], events, clock).filter((thread) => thread.id !== primaryThread)],
    events: events.map((each, index) => ({ ...each, seq: index + 1 })),
    input: [],
    transcripts: copyTranscripts(transcripts, read.messages, { id: claudeSession, folder }),
  });
  return events.length;
}

/** The usage was paid elsewhere: `tandem.imported` reports it, and it counts nowhere. */
export const paidElsewhere = (events: readonly PlacedEvent[]): PlacedEvent[] =>
  events.filter(({ event }) => event.type !== "session.usage");

/** The events before the imported ones: their origin, and where the session continues. */
export function headOf(read: ReadPast, folder: string, clock: Clock): PlacedEvent[] {
  const { from, claudeSession, facts, log, lines, unreadable } = read;
  const head = own(
    {
      type: "tandem.imported",
      from,
      claude_session_id: claudeSession ?? null,
      lines,
      unreadable,
      folder: facts.folder ?? null,
      claude_code_version: facts.version ?? null,
      models: facts.models,
      usage: log.ledger.total,
      usd: log.ledger.usd,
    },
    clock,
  );
  if (facts.folder === undefined || facts.folder === folder) return [head];
  const text = `It continues in ${folder}: its original folder is missing or not allowed`;
  return [head, own({ type: "tandem.notice", level: "warning", text }, clock)];
}

export const own = (body: SessionEventBody, clock: Clock): PlacedEvent => ({
  thread: null,
  event: { ...body, id: newId("event"), processed_at: isoNow(clock) },
});

/** The threads that these events create or change. */
export function threadsOf(
  row: SessionRow,
  known: readonly ThreadRow[],
  events: readonly PlacedEvent[],
  clock: Clock,
): ThreadRow[] {
  const restored = new Threads(row, known, clock);
  for (const { thread, event } of events) restored.note(thread, event);
  return restored.changed();
}

function titleOf({ title, firstPrompt }: PastFacts): string | null {
  const text = (title ?? firstPrompt ?? "").replaceAll(/\s+/g, " ").trim();
  if (text === "") return null;
  return text.length <= TITLE_LENGTH ? text : `${text.slice(0, TITLE_LENGTH - 1)}…`;
}
