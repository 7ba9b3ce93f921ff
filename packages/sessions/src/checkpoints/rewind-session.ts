import { randomUUID } from "node:crypto";
import {
  RequestError,
  type EventId,
  type RewindOutcome,
  type RewindParams,
  type SessionEventBody,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import type { Lease, SessionChange, SessionRow, Store } from "@tandem/storage";
import type { CheckpointStores } from "@tandem/workspace";
import { activeOutcome, evaluated, withOutcome } from "../log/outcome-state.ts";
import { messageUuid } from "../turn/lost-messages.ts";
import type { SessionWriter } from "../log/session-writer.ts";
import { loadTranscripts, storeTranscripts } from "../process/transcript-store.ts";
import { FilesOfSession } from "./files-of-session.ts";
import type { ForeignChange } from "./file-plan.ts";
import { findTurn, readPast, type PastTurn, type SessionPast } from "./session-past.ts";

const NAMED = 5;

interface RewindDependencies {
  store: Store;
  checkpointStores: CheckpointStores | undefined;
  row: SessionRow;
  clock: Clock;
}

/** The session's writer. Without it, nothing can be changed. */
interface RewindWriter {
  writer: SessionWriter;
  lease: Lease;
  /** The caller's name. */
  by: string;
}

/** Rewinds files, conversation or both to before a turn; without a writer, returns the plan only. */
export async function rewindSession(
  { store, checkpointStores, row, clock }: RewindDependencies,
  params: RewindParams,
  writer?: RewindWriter,
) {
  const past = await readPast(store.events, row.id);
  const turn = findTurn(past, { turn: params.turn, message: params.to_message_id });
  const { scope = "both" } = params;
  const outcome: RewindOutcome = {
    dry_run: !writer,
    scope,
    to_message_id: turn.message,
    turn: turn.number,
    diff: null,
    foreign: [],
    turns: scope === "files" ? 0 : past.turns.filter(({ rewound, seq }) => !rewound && seq >= turn.seq).length,
  };
  let filesNow: { checkpoint: string; undo: string; files: number } | undefined;
  if (scope !== "conversation") {
    const files = await FilesOfSession.open(checkpointStores, row, past);
    const target = await files.before(turn);
    await files.looking(async (present) => {
      const { changes, foreign } = await files.plan(target, turn, present, store.events);
      const paths = changes.map(({ path }) => path);
      outcome.foreign = foreign;
      outcome.diff = await files.difference(present, target, paths);
      if (!writer) return;
      if (foreign.length > 0 && !params.force) throw refusal(foreign);
      filesNow = await restoreFiles(files, { ...writer, row }, { present, target, paths, message: turn.message });
    });
  }
  if (!writer) return outcome;
  const conversation = scope === "files" ? undefined : await cutConversation(store, writer.lease, row, past, turn);
  const rewound: SessionEventBody = {
    type: "tandem.rewound",
    scope,
    to_message_id: turn.message,
    checkpoint_id: filesNow?.checkpoint ?? null,
    undo_checkpoint_id: filesNow?.undo ?? null,
    files: filesNow?.files ?? 0,
    ...(conversation && { conversation }),
    by: writer.by,
  };
  const change: SessionChange = conversation ? { claudeSession: conversation.to } : {};
  const ended = scope === "files" ? undefined : forgottenOutcome(row, turn, isoNow(clock));
  if (ended) change.outcomes = withOutcome(row, ended.outcome);
  await writer.writer.write([...(ended ? [ended.body] : []), rewound], change);
  return outcome;
}

/** Ends an outcome that the agent forgets with the rewind. */
function forgottenOutcome(row: SessionRow, turn: PastTurn, at: string): ReturnType<typeof evaluated> | undefined {
  const active = activeOutcome(row);
  // Ids grow with time.
  if (!active || active.event_id < turn.message) return undefined;
  const explanation = "The session was rewound to before the outcome.";
  return evaluated(active, { result: "interrupted", explanation }, at);
}

/** Undoes the last rewind: restores the conversation and the files from before it. */
export async function undoRewind(
  { store, checkpointStores, row }: RewindDependencies,
  force: boolean,
  writer: RewindWriter,
): Promise<RewindOutcome> {
  const past = await readPast(store.events, row.id);
  const rewind = past.rewinds.at(-1);
  // The rewind has no end in the log: the server died during it, and the conversation was not changed.
  const cut = past.marks.findLast(({ kind }) => kind === "rewind" || kind === "rewound");
  const isCut = cut?.kind === "rewind" && cut.seq > (rewind?.seq ?? 0);
  if (!isCut && (!rewind || rewind.event.undoes !== undefined)) {
    throw new RequestError("conflict", "There is no rewind to undo.");
  }
  const since = isCut ? cut.seq : rewind!.seq;
  if (past.turns.some(({ seq }) => seq > since)) {
    throw new RequestError("conflict", "The session continued after the rewind.", {
      fix: "Rewind it to before that, or fork it.",
    });
  }
  const event = isCut ? undefined : rewind!.event;
  const undoId = isCut ? cut.checkpoint : event!.undo_checkpoint_id;
  const outcome: RewindOutcome = {
    dry_run: false,
    scope: event?.scope ?? "files",
    to_message_id: null,
    turn: null,
    diff: null,
    foreign: [],
    turns: 0,
  };
  let filesNow: { checkpoint: string; undo: string; files: number } | undefined;
  if (undoId !== null) {
    const files = await FilesOfSession.open(checkpointStores, row, past);
    const target = await files.find(undoId);
    await files.looking(async (present) => {
      const left = event?.checkpoint_id ? await files.find(event.checkpoint_id) : present;
      const paths = new Set((await files.store.changes(left, target)).map(({ path }) => path));
      const back = new Set((await files.store.changes(present, target)).map(({ path }) => path));
      outcome.foreign = (await files.store.changes(left, present))
        .filter(({ path }) => paths.has(path) && back.has(path))
        .map(({ path }) => ({ path, reason: "changed since the rewind" }));
      outcome.diff = await files.difference(present, target, paths);
      if (outcome.foreign.length > 0 && !force) throw refusal(outcome.foreign);
      filesNow = await restoreFiles(files, { ...writer, row }, { present, target, paths, message: null });
    });
  }
  const conversation = event?.conversation && { from: event.conversation.to, to: event.conversation.from };
  const undone: SessionEventBody = {
    type: "tandem.rewound",
    scope: outcome.scope,
    to_message_id: null,
    checkpoint_id: filesNow?.checkpoint ?? null,
    undo_checkpoint_id: filesNow?.undo ?? null,
    files: filesNow?.files ?? 0,
    ...(conversation && { conversation }),
    ...(event && { undoes: event.id }),
    by: writer.by,
  };
  await writer.writer.write([undone], conversation ? { claudeSession: conversation.to } : {});
  return outcome;
}

/** Log the checkpoint first, so that the rewind can be undone whatever happens. */
async function restoreFiles(
  files: FilesOfSession,
  { writer, row }: Pick<RewindWriter, "writer"> & { row: SessionRow },
  {
    present,
    target,
    paths,
    message,
  }: {
    present: Parameters<typeof files.store.restore>[2]["present"];
    target: Parameters<typeof files.store.restore>[2]["target"];
    paths: Iterable<string>;
    message: EventId | null;
  },
): Promise<{ checkpoint: string; undo: string; files: number }> {
  const undo = await files.store.take(row.id, "rewind");
  const wanted = new Set(paths);
  await writer.write([
    {
      type: "tandem.checkpoint",
      checkpoint_id: undo.id,
      when: "rewind",
      message_id: message,
      files_changed: 0,
      skipped: undo.skippedCount,
    },
  ]);
  const now = await files.store.restore(row.id, "rewound", { present, target, paths: wanted });
  return { checkpoint: now.id, undo: undo.id, files: wanted.size };
}

/** Continues the conversation up to a message under a new id. The old one stays, so that the rewind can be undone. */
async function cutConversation(
  store: Store,
  lease: Lease,
  row: SessionRow,
  past: SessionPast,
  turn: PastTurn,
): Promise<{ from: string; to: string }> {
  const { cutTranscript } = await import("@tandem/claude-code");
  const id = randomUUID();
  const forgotten = past.turns.filter(({ rewound, seq }) => !rewound && seq >= turn.seq);
  const kept = cutTranscript(
    await loadTranscripts(store.transcripts, row.id, row.claudeSession),
    forgotten.map(({ message }) => messageUuid(message)),
    { id, folder: row.folder },
  );
  await storeTranscripts(store.transcripts, lease, id, kept);
  return { from: row.claudeSession ?? "", to: kept.size > 0 ? id : "" };
}

function refusal(foreign: readonly ForeignChange[]): RequestError {
  const named = foreign.slice(0, NAMED).map(({ path, reason }) => `${path} (${reason})`);
  const rest = foreign.length > NAMED ? `, and ${foreign.length - NAMED} more` : "";
  return new RequestError(
    "conflict",
    `Files that the rewind would overwrite were changed outside the session: ${named.join(", ")}${rest}.`,
    { fix: "Check with a dry run. With force they are overwritten; an undo restores them." },
  );
}
