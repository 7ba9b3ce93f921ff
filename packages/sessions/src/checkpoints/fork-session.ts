import { randomUUID } from "node:crypto";
import {
  ENVIRONMENT_METADATA,
  newId,
  RequestError,
  SESSION_METADATA,
  type Environment,
  type ForkParams,
  type LoggedEvent,
  type SessionEvent,
  type SessionEventBody,
  type SessionId,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import { logEvents, type EventLog, type OutcomeState, type SessionRow, type Store } from "@tandem/storage";
import type { Checkpoint, CheckpointStores } from "@tandem/workspace";
import type { EnvironmentCatalogue } from "../resources/environments.ts";
import type { SessionMounts } from "../mounts/session-mounts.ts";
import { messageUuid } from "../turn/lost-messages.ts";
import type { SessionPlaces } from "../resources/session-places.ts";
import { loadTranscripts } from "../process/transcript-store.ts";
import { cancellation } from "../approvals/outcome.ts";
import { closing, openCalls, type OpenCall, type Placed } from "../log/open-turn.ts";
import { isOver } from "../log/outcome-state.ts";
import { noUsageYet } from "../log/usage-ledger.ts";
import { isRewound, rewoundSpans } from "../log/rewound-spans.ts";
import { findTurn, markBefore, readPast, type PastTurn, type SessionPast } from "./session-past.ts";

/** These events describe files of another session. */
const LEFT_OUT = new Set(["tandem.checkpoint", "tandem.rewound", "tandem.forked", "session.deleted"]);

interface ForkDependencies {
  store: Store;
  checkpointStores: CheckpointStores | undefined;
  environments: EnvironmentCatalogue;
  places: SessionPlaces;
  mounts: SessionMounts;
  clock: Clock;
}

interface ForkSource {
  row: SessionRow;
  /** The last event of its log before the row was read. */
  head: number;
}

/**
 * Creates a session with the history of another. Its log starts with `tandem.forked`, followed by copies of the events still in
 * the agent's context, with the same ids. Its usage starts at zero.
 */
export async function forkSession(
  parts: ForkDependencies,
  { row, head }: ForkSource,
  params: ForkParams,
  by?: string,
): Promise<SessionRow> {
  const { store } = parts;
  const past = await readPast(store.events, row.id);
  const names = params.turn !== undefined || params.before_message_id !== undefined;
  const turn = names ? findTurn(past, { turn: params.turn, message: params.before_message_id }) : undefined;
  if (!turn && row.status !== "idle" && row.status !== "terminated") throw atWork();
  const id = newId("session");
  const notices: string[] = [];
  // A worktree's name must be unique.
  const { [SESSION_METADATA.worktree]: _, ...rest } = row.metadata;
  const metadata = { ...rest, [SESSION_METADATA.forkedFrom]: row.id };
  const { environment, folder } = await findPlace(parts, { row, past, turn, params, id, metadata, notices });
  try {
    const at = isoNow(parts.clock);
    const claudeSession = randomUUID();
    const transcripts = await copyTranscripts(store, row, past, turn, { id: claudeSession, folder });
    const mounts = await parts.mounts.fork(row, { id, folder });
    notices.push(...mounts.notices);
    const fork: SessionRow = {
      ...row,
      id,
      status: "idle",
      environmentId: environment,
      folder,
      resources: mounts.resources,
      title: params.title === undefined ? row.title : params.title,
      metadata,
      usage: noUsageYet(),
      modelMicroUsd: {},
      activeMs: 0,
      waitingFor: [],
      parked: null,
      cutShort: null,
      outcome: null,
      claudeSession: transcripts.length > 0 ? claudeSession : undefined,
      createdAt: at,
      updatedAt: at,
      archivedAt: null,
    };
    const events = await copyEvents(store, row, turn, [forked(row, turn, by), ...notices.map(warning)], at);
    // A turn that began during the copy would be copied in part, as if it had ended.
    if (!turn && (await hasBegun(store.events, row.id, head))) throw atWork();
    fork.outcomes = copiedOutcomes(row, events);
    const known = new Set(
      events.flatMap(({ event }) => ("session_thread_id" in event ? [event.session_thread_id] : [])),
    );
    const threads = (await store.sessions.threads(row.id))
      .filter((thread) => thread.id === row.primaryThread || known.has(thread.id))
      .map((thread) => ({ ...thread, session: id, status: "idle" as const, usage: null }));
    await store.sessions.restore({ session: fork, threads, events, input: [], transcripts });
    return fork;
  } catch (error) {
    if (folder !== row.folder) await parts.places.remove({ ...row, id, folder });
    throw error;
  }
}

const atWork = (): RequestError =>
  new RequestError("conflict", "The session is running, so its current state cannot be forked.", {
    fix: "Fork before a message, or wait until the session is idle.",
  });

const hasBegun = async (log: EventLog, session: SessionId, head: number): Promise<boolean> =>
  (
    await log.read(session, {
      after: head,
      limit: 1,
      types: ["user.message", "user.define_outcome", "session.status_running"],
    })
  ).length > 0;

async function copyEvents(
  store: Store,
  row: SessionRow,
  turn: PastTurn | undefined,
  first: readonly SessionEventBody[],
  at: string,
): Promise<LoggedEvent[]> {
  const spans = await rewoundSpans(store.events, row.id);
  const copied: Omit<LoggedEvent, "seq">[] = first.map((body) => own(body, at));
  for await (const logged of logEvents(store.events, row.id, { before: turn?.seq })) {
    if (!isRewound(logged.seq, spans) && !LEFT_OUT.has(logged.event.type)) copied.push(unspent(logged));
  }
  const open = [...openCalls(copied).values()];
  copied.push(
    ...open.flatMap((call) => closedInCopy(call, at)).map(({ thread, body }) => ({ ...own(body, at), thread })),
  );
  // A turn followed directly by another has no end in the log, and one that waits for a person ends in the copy.
  const end = copied.findLast(({ event }) => event.type.startsWith("session.status_"))?.event.type;
  if (open.length > 0 || (end !== undefined && end !== "session.status_idle")) {
    copied.push(own({ type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null }, at));
  }
  return copied.map((logged, index) => ({ ...logged, seq: index + 1 }));
}

/** The outcomes that have ended in the copied log. Only the source works on an active one. */
function copiedOutcomes({ outcomes = [] }: SessionRow, events: readonly LoggedEvent[]): OutcomeState[] {
  const ended = new Set(
    events.flatMap(({ event }) => (event.type === "span.outcome_evaluation_end" ? [event.outcome_id] : [])),
  );
  return outcomes.filter((outcome) => isOver(outcome) && ended.has(outcome.outcome_id));
}

/** The call stays open in the source. It must not run a second time, or be answered, in the copy. */
function closedInCopy(call: OpenCall, at: string): Placed[] {
  const words = "The session was forked while this call was open. It did not run in this fork.";
  return [closing(call, "stopped", words), ...cancellation(call, at)];
}

const forked = ({ id }: SessionRow, turn: PastTurn | undefined, by: string | undefined): SessionEventBody => ({
  type: "tandem.forked",
  from_session_id: id,
  before_message_id: turn?.message ?? null,
  ...(by !== undefined && { by }),
});

const warning = (text: string): SessionEventBody => ({ type: "tandem.notice", level: "warning", text });

/** The source session was charged for the copied usage. */
function unspent({ thread, event }: LoggedEvent): Omit<LoggedEvent, "seq"> {
  if (event.type !== "session.usage") return { thread, event };
  const nothing: SessionEvent = {
    type: "session.usage",
    id: event.id,
    processed_at: event.processed_at,
    usage: noUsageYet(),
    tandem: { usd: 0, by_model: {}, by_thread: {} },
  };
  return { thread, event: nothing };
}

const own = (body: SessionEventBody, at: string): Omit<LoggedEvent, "seq"> => ({
  thread: null,
  event: { ...body, id: newId("event"), processed_at: at },
});

async function copyTranscripts(
  store: Store,
  row: SessionRow,
  past: SessionPast,
  turn: PastTurn | undefined,
  place: { id: string; folder: string },
) {
  const { cutTranscript } = await import("@tandem/claude-code");
  const left = turn ? past.turns.filter(({ rewound, seq }) => !rewound && seq >= turn.seq) : [];
  const transcripts = await loadTranscripts(store.transcripts, row.id, row.claudeSession);
  const uuids = left.map(({ message }) => messageUuid(message));
  return [...cutTranscript(transcripts, uuids, place)].map(([subpath, lines]) => ({ subpath, lines }));
}

interface ForkTarget {
  row: SessionRow;
  past: SessionPast;
  turn: PastTurn | undefined;
  params: ForkParams;
  id: SessionId;
  metadata: SessionRow["metadata"];
  notices: string[];
}

/** A private folder is not shared: the fork gets its own, with the files of that time. */
async function findPlace(
  parts: ForkDependencies,
  target: ForkTarget,
): Promise<{ environment: string; folder: string }> {
  const { environments, places } = parts;
  const { row, params, id, metadata } = target;
  if (params.environment_id !== undefined) {
    if (params.worktree) throw new RequestError("invalid_request", "Name an environment, or ask for a worktree.");
    const environment = await environments.open(params.environment_id);
    if ((environment.config.type === "self_hosted") !== (row.selfHosted ?? false)) {
      throw new RequestError(
        "invalid_request",
        "environment_id: only one of the two environments is self-hosted, and the files are there.",
        { fix: "Fork without it, or create a session in the other environment." },
      );
    }
    return { environment: environment.id, folder: await places.prepare(environment, id, metadata) };
  }
  // A deleted environment counts as shared.
  const old = await environments.get(row.environmentId).catch(() => undefined);
  const path = old?.metadata[ENVIRONMENT_METADATA.path];
  const isWorktree = old !== undefined && old.metadata[ENVIRONMENT_METADATA.isolation] === "worktree";
  const isScratch = old !== undefined && path === undefined;
  if (!params.worktree && !isWorktree && !isScratch) return { environment: row.environmentId, folder: row.folder };
  if (params.worktree && isScratch) {
    throw new RequestError(
      "invalid_request",
      "A session in a scratch folder has no git repository to make a worktree of.",
    );
  }
  const files = await filesThen(parts, target);
  const environment = isScratch || isWorktree ? old : await worktreesOf(parts, old, path ?? row.folder);
  const folder = await places.prepare(environment, id, metadata, isScratch ? undefined : files?.head);
  if (files) await (await parts.checkpointStores!.of(row.folder)).writeTo(folder, files);
  else target.notices.push("The files cannot be restored: there is no checkpoint for this point.");
  return { environment: environment.id, folder };
}

/** One environment for all worktrees of a folder; each fork has its own start commit. */
async function worktreesOf(
  { environments }: ForkDependencies,
  old: Environment | undefined,
  folder: string,
): Promise<Environment> {
  const { path, isolation } = ENVIRONMENT_METADATA;
  const metadata = { ...old?.metadata, [path]: folder, [isolation]: "worktree" };
  const name = `${folder} (worktrees)`.slice(-256);
  return (await environments.findLike(metadata)) ?? environments.create({ name, metadata });
}

async function filesThen(
  { checkpointStores }: ForkDependencies,
  { row, past, turn }: ForkTarget,
): Promise<Checkpoint | undefined> {
  if (!checkpointStores) return undefined;
  const store = await checkpointStores.of(row.folder);
  if (!turn) return store.take(row.id, "fork");
  const mark = markBefore(past, turn);
  return mark && store.find(row.id, mark.checkpoint);
}
