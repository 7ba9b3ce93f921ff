import { createHash } from "node:crypto";
import type { PastSession } from "@tandem/claude-code";
import { newId, RequestError, type Clock, type SessionEvent, type SessionId } from "@tandem/protocol";
import { logEvents, type Lease, type SessionRow, type Store } from "@tandem/storage";
import { copyTranscripts } from "./copy-transcripts.ts";
import type { PlacedEvent } from "./past-log.ts";
import { readPast } from "./read-past-session.ts";
import {
  headOf,
  own,
  paidElsewhere,
  restorePast,
  threadsOf,
  type ImportTarget,
  type ReadPast,
} from "./restore-past.ts";

/** Long enough for the largest transcript to be written. */
const LEASE_MS = 60_000;

export interface PastImport extends ImportTarget {
  /** The lease holder's name during the import. */
  holder: string;
  /** Creates a second session next to an existing one. */
  asNew?: boolean;
}

export interface ImportedPast {
  id: SessionId;
  /** `there`: nothing new since the last import. */
  outcome: "new" | "more" | "there";
  /** The number of added events. */
  events: number;
  unreadable: number;
}

/**
 * Imports a conversation of Claude Code as a session: its events, marked as imported, and a copy of its transcripts to continue
 * from. Idempotent: a second import adds only new events.
 */
export async function importPastSession(store: Store, past: PastSession, settings: PastImport): Promise<ImportedPast> {
  const name = settings.asNew ? `${past.id}/${newId("session")}` : past.id;
  const read = await readPast(past, name, settings.clock);
  if (read.events.length === 0) {
    throw new RequestError("invalid_request", `Nothing was said in the conversation ${past.id}.`);
  }
  const id = importedSessionId(name);
  const row = await store.sessions.get(id);
  if (row) return addTo(store, row, read, settings);
  const events = await restorePast(store, id, read, settings);
  return { id, outcome: "new", events, unreadable: read.unreadable };
}

/** The session id of an imported conversation. */
export const importedSessionId = (name: string): SessionId =>
  `sesn_${createHash("sha256").update(name).digest("hex").slice(0, 26)}` as SessionId;

async function addTo(
  store: Store,
  row: SessionRow,
  read: ReadPast,
  { holder, clock }: Pick<PastImport, "holder" | "clock">,
): Promise<ImportedPast> {
  const { id } = row;
  const known = await knownOf(store, id);
  const ids = new Set<string>(read.events.map(({ event }) => event.id));
  const added = paidElsewhere(read.events).filter(({ event }) => !known.ids.has(event.id));
  if (added.length === 0) return { id, outcome: "there", events: 0, unreadable: read.unreadable };
  if (known.messages.some((message) => !ids.has(message))) {
    throw new RequestError("conflict", `The session ${id} has been continued both here and in Claude Code.`, {
      fix: "Import it once more as another session: --as-new.",
    });
  }
  const lease = await store.leases.take(id, holder, LEASE_MS);
  if (!lease) {
    const held = await store.leases.holder(id);
    throw new RequestError("conflict", `The session ${id} is held by ${held?.holder ?? "another process"}.`, {
      fix: "Import it again when that process has let go of it.",
    });
  }
  try {
    const events = [...headOf(read, row.folder, clock), ...continuationEvents(known, added, clock)];
    await write({ store, clock }, lease, row, read, events);
    return { id, outcome: "more", events: events.length, unreadable: read.unreadable };
  } finally {
    await store.leases.release(lease);
  }
}

async function write(
  { store, clock }: { store: Store; clock: Clock },
  lease: Lease,
  row: SessionRow,
  read: ReadPast,
  events: readonly PlacedEvent[],
): Promise<void> {
  // Store the transcripts first: a log ahead of its transcript would lose messages.
  const place = { id: row.claudeSession ?? "", folder: row.folder };
  for (const { subpath, lines } of copyTranscripts(read.transcripts, read.messages, place)) {
    await store.transcripts.replace(lease, subpath, lines);
  }
  const threads = threadsOf(row, await store.sessions.threads(row.id), events, clock);
  await store.events.append(lease, events, { session: { status: "idle" }, threads });
}

interface Known {
  ids: Set<string>;
  messages: string[];
  /** Calls with a result. */
  closed: Set<string>;
}

async function knownOf(store: Store, id: SessionId): Promise<Known> {
  const known: Known = { ids: new Set(), messages: [], closed: new Set() };
  for await (const { event } of logEvents(store.events, id)) {
    known.ids.add(event.id);
    if (event.type === "user.message") known.messages.push(event.id);
    const call = callOf(event);
    if (call !== undefined) known.closed.add(call);
  }
  return known;
}

/** A turn that was open at the last import was closed here: reopen it, and do not close calls twice. */
function continuationEvents({ closed }: Known, added: readonly PlacedEvent[], clock: Clock): PlacedEvent[] {
  const once = added.map((each): PlacedEvent => {
    const call = callOf(each.event);
    if (call === undefined || !closed.has(call)) return each;
    const { id, processed_at } = each.event;
    return {
      thread: each.thread,
      event: { type: "tandem.unknown", kind: "late result", message: each.event, id, processed_at },
    };
  });
  const first = added.find(({ event }) => event.type === "user.message" || event.type === "session.status_running");
  const isBegun = first !== undefined && added.indexOf(first) === 0;
  return isBegun ? once : [own({ type: "session.status_running" }, clock), ...once];
}

const callOf = (event: SessionEvent): string | undefined =>
  event.type === "agent.tool_result"
    ? event.tool_use_id
    : event.type === "agent.mcp_tool_result"
      ? event.mcp_tool_use_id
      : undefined;
