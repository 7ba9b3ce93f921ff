import {
  RequestError,
  type AuditNote,
  type Cassette,
  type ForkParams,
  type RewindOutcome,
  type RewindParams,
  type RewindUndoParams,
  type Session,
  type SessionCheckpoints,
  type SessionDiff,
  type SessionId,
  type Clock,
} from "@tandem/protocol";
import type { SessionRow, Store } from "@tandem/storage";
import type { CheckpointStores } from "@tandem/workspace";
import type { Sessions } from "../resources/sessions.ts";
import type { EnvironmentCatalogue } from "../resources/environments.ts";
import type { SessionActors } from "../actor/session-actors.ts";
import type { SessionMounts } from "../mounts/session-mounts.ts";
import type { SessionPlaces } from "../resources/session-places.ts";
import { FilesOfSession, type DiffQuery } from "./files-of-session.ts";
import { forkSession } from "./fork-session.ts";
import { rewindSession, undoRewind } from "./rewind-session.ts";
import { findOpenSession, findSessionRow } from "../log/find-session-row.ts";
import { readPast } from "./session-past.ts";
import type { KillSwitch } from "../budgets/kill-switch.ts";
import { readCurrent } from "../resources/current-status.ts";

interface HistoryDependencies {
  store: Store;
  checkpointStores: CheckpointStores | undefined;
  environments: EnvironmentCatalogue;
  places: SessionPlaces;
  mounts: SessionMounts;
  actors: SessionActors;
  killSwitch: KillSwitch;
  sessions: Pick<Sessions, "get" | "send">;
  /** A session was created without `create`. */
  announce: (row: SessionRow) => void;
  note: (note: AuditNote) => Promise<void>;
  exportCassette: (row: SessionRow) => Promise<Cassette>;
  clock: Clock;
}

/** The history of a session's files and conversation: diffs, rewind and fork. */
export class SessionHistory {
  readonly #parts: HistoryDependencies;

  constructor(parts: HistoryDependencies) {
    this.#parts = parts;
  }

  /** The session's turns and the checkpoints of its folder, oldest first. */
  async checkpoints(id: string): Promise<SessionCheckpoints> {
    const { store, checkpointStores } = this.#parts;
    const row = await this.#row(id);
    const past = await readPast(store.events, row.id);
    const kept = checkpointStores
      ? await (await FilesOfSession.open(checkpointStores, row, past)).kept()
      : new Set<string>();
    const numbers = new Map(past.turns.map(({ message, number }) => [message, number]));
    return {
      turns: past.turns.map(({ number, message, seq, at, text, rewound }, index) => {
        const next = past.turns[index + 1]?.seq ?? Infinity;
        const after = past.marks.find((mark) => mark.kind === "after" && mark.seq > seq && mark.seq < next);
        return { turn: number, message_id: message, at, text, rewound, files_changed: after?.filesChanged ?? null };
      }),
      checkpoints: past.marks.map(({ checkpoint, kind, message, at, filesChanged, skipped }) => ({
        checkpoint_id: checkpoint,
        when: kind,
        message_id: message,
        turn: (message && numbers.get(message)) ?? null,
        at,
        files_changed: filesChanged,
        skipped,
        kept: kept.has(checkpoint),
      })),
    };
  }

  /**
   * The diff between two points: checkpoint ids, or `now`. A turn stands for its two checkpoints. By default, from before the
   * first turn to after the last.
   */
  async diff(id: string, query: DiffQuery): Promise<SessionDiff> {
    const { store, checkpointStores } = this.#parts;
    const row = await this.#row(id);
    const files = await FilesOfSession.open(checkpointStores, row, await readPast(store.events, row.id));
    return files.diff(query);
  }

  /** The session as a cassette: model answers, calls, events and files, for a replay. Works in any state. */
  async cassette(id: string): Promise<Cassette> {
    return this.#parts.exportCassette(await this.#row(id));
  }

  /** Rewinds files, conversation or both to before a turn. Fails with `conflict` while a turn runs. */
  async rewind(id: string, params: RewindParams, by = "unknown"): Promise<RewindOutcome> {
    const row = await this.#open(id);
    if (params.dry_run) return rewindSession({ ...this.#parts, row }, params);
    return this.#parts.actors.with(row.id, (actor) =>
      actor.atRest((writer) =>
        rewindSession({ ...this.#parts, row: writer.row }, params, { writer, lease: actor.lease, by }),
      ),
    );
  }

  /** Undoes the last rewind, if no turn followed it. */
  async undoRewind(id: string, { force = false }: RewindUndoParams, by = "unknown"): Promise<RewindOutcome> {
    const row = await this.#open(id);
    return this.#parts.actors.with(row.id, (actor) =>
      actor.atRest((writer) =>
        undoRewind({ ...this.#parts, row: writer.row }, force, { writer, lease: actor.lease, by }),
      ),
    );
  }

  /** Creates a session that continues from before a message, or from the end. The source is unchanged. */
  async fork(id: string, params: ForkParams, by?: string): Promise<Session> {
    const head = await this.#parts.store.events.head((await this.#row(id)).id);
    const row = await readCurrent(this.#parts, id);
    const fork = await forkSession(this.#parts, { row, head }, params, by);
    const details = { from: id, before: params.before_message_id, turn: params.turn, folder: fork.folder };
    await this.#parts.note({ kind: "session.forked", actor: by ?? "unknown", session: fork.id, details });
    this.#parts.announce(fork);
    return this.#parts.sessions.get(fork.id);
  }

  /** Replaces the conversation by its summary, in a separate turn. */
  async compact(id: string, by?: string): Promise<void> {
    const row = await this.#open(id);
    const { claudeSession, status } = row;
    if (!claudeSession) throw new RequestError("conflict", "There is no conversation to compact yet.");
    if (status !== "idle") {
      throw new RequestError("conflict", "The session is running.", { fix: "Wait until it is idle." });
    }
    await this.compactNext(row.id, by);
  }

  /** Runs after the current turn, if there is one. */
  async compactNext(id: SessionId, by?: string): Promise<void> {
    const content = [{ type: "text" as const, text: "/compact" }];
    await this.#parts.sessions.send(id, [{ type: "user.message", content, tandem: { commands: true } }], by);
  }

  #row(id: string): Promise<SessionRow> {
    return findSessionRow(this.#parts.store.sessions, id);
  }

  #open(id: string): Promise<SessionRow> {
    return findOpenSession(this.#parts.store.sessions, id);
  }
}

export type History = Omit<SessionHistory, "compactNext">;
