import type { EventId, SessionEventBody } from "@tandem/protocol";
import { branchOf, type Checkpoint, type CheckpointStore, type CheckpointStores } from "@tandem/workspace";
import type { TurnHook, TurnControl, TurnStart } from "../hooks/turn-hook.ts";
import type { Clock } from "../host/clock.ts";
import { errorDetail } from "../log/error-detail.ts";

const MAX_FILES = 10_000;
/** After a failure, skip this folder: scanning it again with every turn is slow. */
const TRY_AGAIN_MS = 10 * 60 * 1_000;

/**
 * Takes a checkpoint of a session's folder before and after each turn. If that fails, the turn continues, and the log says that
 * it cannot be rewound.
 */
export class CheckpointHook implements TurnHook {
  readonly #control: TurnControl;
  readonly #shelf: CheckpointStores;
  readonly #clock: Clock;
  #last: Checkpoint | undefined;
  #message: EventId | null = null;
  #failedAt = 0;
  #failure = "";

  constructor(control: TurnControl, shelf: CheckpointStores, clock: Clock) {
    this.#clock = clock;
    this.#control = control;
    this.#shelf = shelf;
  }

  async before({ message }: TurnStart): Promise<SessionEventBody[]> {
    this.#message = message;
    // A resumed turn already has its first checkpoint.
    return message === null ? [] : this.#take("before", message);
  }

  async after({ message }: TurnStart): Promise<SessionEventBody[]> {
    return this.#take("after", message ?? this.#message);
  }

  async #take(when: "before" | "after", message: EventId | null): Promise<SessionEventBody[]> {
    // Each turn logs once that it cannot be rewound.
    if (this.#clock.now() - this.#failedAt < TRY_AGAIN_MS) return when === "before" ? [notice(this.#failure)] : [];
    const { id, folder } = this.#control.row();
    try {
      const store = await this.#shelf.of(folder);
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
      this.#failedAt = this.#clock.now();
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
