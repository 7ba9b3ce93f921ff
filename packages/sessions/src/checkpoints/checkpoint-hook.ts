import type { EventId, SessionEventBody, Clock } from "@tandem/protocol";
import type { EventLog } from "@tandem/storage";
import { branchOf, type Checkpoint, type CheckpointStore, type CheckpointStores } from "@tandem/workspace";
import type { TurnHook, TurnControl, TurnStart } from "../hooks/turn-hook.ts";
import { errorDetail } from "../log/error-detail.ts";

const MAX_FILES = 10_000;
/** Events that show that a turn has its checkpoint, or that a tool may have changed files. */
const PAST_CHECKPOINT = ["tandem.checkpoint", "agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"];
/** After a failure, skip this folder: scanning it again with every turn is slow. */
const TRY_AGAIN_MS = 10 * 60 * 1_000;

/**
 * Takes a checkpoint of a session's folder before and after each turn. The first one is taken while the model answers;
 * only tools with side effects wait for it. If it fails, the turn continues, and the log says that it cannot be
 * rewound.
 */
export class CheckpointHook implements TurnHook {
  readonly #control: TurnControl;
  readonly #stores: CheckpointStores;
  readonly #clock: Clock;
  readonly #events: EventLog;
  #last: Checkpoint | undefined;
  #message: EventId | null = null;
  #failedAt = -Infinity;
  #failure = "";

  constructor(control: TurnControl, stores: CheckpointStores, { clock, events }: { clock: Clock; events: EventLog }) {
    this.#clock = clock;
    this.#events = events;
    this.#control = control;
    this.#stores = stores;
  }

  async prepare({ message, opening }: TurnStart): Promise<SessionEventBody[]> {
    this.#message = message;
    const begun = message ?? (await this.#unchecked(opening).catch(() => null));
    return begun === null ? [] : this.#take("before", begun);
  }

  async after({ message }: TurnStart): Promise<SessionEventBody[]> {
    return this.#take("after", message ?? this.#message);
  }

  /** The opening message of a resumed turn, if the server died before its first checkpoint: then no tool has run yet. */
  async #unchecked(opening: EventId | null): Promise<EventId | null> {
    if (opening === null) return null;
    const { id } = this.#control.row();
    const logged = await this.#events.find(id, opening);
    if (!logged) return null;
    const later = await this.#events.read(id, { after: logged.seq, limit: 1, types: PAST_CHECKPOINT });
    return later.length === 0 ? opening : null;
  }

  async #take(when: "before" | "after", message: EventId | null): Promise<SessionEventBody[]> {
    // Each turn logs once that it cannot be rewound.
    if (this.#clock.monotonic() - this.#failedAt < TRY_AGAIN_MS)
      return when === "before" ? [notice(this.#failure)] : [];
    const { id, folder } = this.#control.row();
    try {
      const store = await this.#stores.of(folder);
      const last = this.#last ?? (await store.list(id)).at(-1);
      const taken = await store.take(id, when);
      this.#last = taken;
      const changes = last ? await store.changes(last, taken) : [];
      return [
        {
          type: "tandem.checkpoint",
          checkpoint_id: taken.id,
          when,
          message_id: message,
          files_changed: changes.length,
          skipped: taken.skippedCount,
          ...(when === "after" && (await this.#summary(store, taken, changes.length > 0))),
        },
      ];
    } catch (error) {
      this.#failedAt = this.#clock.monotonic();
      this.#failure = `No checkpoint was taken, so the files cannot be rewound: ${errorDetail(error).message}`;
      return [notice(this.#failure)];
    }
  }

  /** For lists of sessions: all changes since the first checkpoint, and the branch. */
  async #summary(store: CheckpointStore, taken: Checkpoint, isChanged: boolean) {
    const { id, folder } = this.#control.row();
    const branch = await branchOf(folder);
    const [first] = isChanged ? await store.list(id) : [];
    const diff = first && (await store.diff(first, taken, { patch: false, maxFiles: MAX_FILES, maxPatchBytes: 0 }));
    return {
      ...(diff && { total: { files: diff.files.length, added: diff.added, removed: diff.removed } }),
      ...(branch !== undefined && { branch }),
    };
  }
}

const notice = (text: string): SessionEventBody => ({ type: "tandem.notice", level: "warning", text });
