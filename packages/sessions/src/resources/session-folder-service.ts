import { createHash } from "node:crypto";
import { findDecidingName } from "@tandem/policy";
import {
  RequestError,
  type EventOf,
  type FileChange,
  type FolderEntry,
  type FolderFile,
  type SessionEventBody,
  type SessionId,
} from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import {
  listFolder,
  makeFolderInside,
  moveInside,
  readInside,
  removeInside,
  replaceInside,
  searchFolder,
  type CheckpointStores,
} from "@tandem/workspace";
import type { SessionActor } from "../actor/session-actor.ts";
import { MOUNT_FOLDER } from "../mounts/mount-path.ts";

const MAX_READ_BYTES = 1024 * 1024;
const MAX_WRITE_BYTES = 10 * 1024 * 1024;

interface FolderDependencies {
  /** Undefined if checkpoints are off. */
  checkpointStores: CheckpointStores | undefined;
  actors: { with<T>(session: SessionId, work: (actor: SessionActor) => Promise<T>): Promise<T> };
  row: (session: string) => Promise<SessionRow>;
  /** The row of a session that is not archived. */
  open: (session: string) => Promise<SessionRow>;
}

type Done = Pick<EventOf<"tandem.file">, "action" | "path" | "to" | "sha256">;

/** The files of a session's folder for clients. They are changed between turns, with a checkpoint before and after. */
export class SessionFolderService {
  readonly #dependencies: FolderDependencies;

  constructor(dependencies: FolderDependencies) {
    this.#dependencies = dependencies;
  }

  async list(id: string, path: string): Promise<FolderEntry[]> {
    return listFolder(await this.#folder(id), path);
  }

  async search(
    id: string,
    query: { name?: string; text?: string; limit: number },
  ): Promise<{ path: string; line?: number; text?: string }[]> {
    return searchFolder(await this.#folder(id), query);
  }

  async read(id: string, path: string): Promise<FolderFile> {
    return readInside(await this.#folder(id), path, { maxBytes: MAX_READ_BYTES });
  }

  /**
   * Writes a file atomically. `sha256` is the expected content of the present one; null if there must be none. This and the
   * following changes are refused while a turn runs, and a rewind to an earlier turn undoes them.
   */
  async write(
    id: string,
    { path, content, sha256: expected }: { path: string; content: Uint8Array; sha256?: string | null },
    by: string,
  ): Promise<FileChange> {
    if (content.byteLength > MAX_WRITE_BYTES) {
      throw new RequestError("too_large", `A file that is written may have ${MAX_WRITE_BYTES / 1024 / 1024} MB.`, {
        fix: "Upload it, and add it to the session's resources.",
      });
    }
    const sha256 = createHash("sha256").update(content).digest("hex");
    return this.#change(id, by, async (folder) => {
      await replaceInside(folder, path, content, { refuse, ...(expected !== undefined && { expected }), is: sha256 });
      return { action: "written", path, sha256 };
    });
  }

  /** Overwrites nothing. */
  async move(id: string, { from, to }: { from: string; to: string }, by: string): Promise<FileChange> {
    return this.#change(id, by, async (folder) => {
      await moveInside(folder, from, to, { refuse });
      return { action: "moved", path: from, to };
    });
  }

  async delete(
    id: string,
    { path, recursive, sha256 }: { path: string; recursive?: boolean; sha256?: string },
    by: string,
  ): Promise<FileChange> {
    return this.#change(id, by, async (folder) => {
      await removeInside(folder, path, { refuse, recursive, ...(sha256 !== undefined && { expected: sha256 }) });
      return { action: "deleted", path };
    });
  }

  async makeFolder(id: string, path: string, by: string): Promise<FileChange> {
    return this.#change(id, by, async (folder) => {
      await makeFolderInside(folder, path, { refuse });
      return { action: "folder", path };
    });
  }

  async #folder(id: string): Promise<string> {
    return (await this.#dependencies.row(id)).folder;
  }

  async #change(session: string, by: string, work: (folder: string) => Promise<Done>): Promise<FileChange> {
    const { id } = await this.#dependencies.open(session);
    const done = Promise.withResolvers<FileChange>();
    await this.#dependencies.actors.with(id, (actor) =>
      actor.change(async (row) => {
        if (actor.running) {
          throw new RequestError(
            "conflict",
            "Files cannot be changed while a turn is running or waits for an answer.",
            {
              fix: "Answer or interrupt it, or wait until it ends.",
            },
          );
        }
        const before = await this.#checkpoint(row, "before");
        const change = await work(row.folder);
        const after = await this.#checkpoint(row, "after");
        const checkpoint = before?.type === "tandem.checkpoint" && after ? before.checkpoint_id : null;
        done.resolve({ type: "session_file_change", ...change, checkpoint_id: checkpoint });
        const events = [before, { type: "tandem.file" as const, ...change, by }, after];
        return { change: {}, events: events.filter((event) => event !== undefined) };
      }),
    );
    return done.promise;
  }

  /** Like those of a turn, so that a rewind to an earlier turn undoes the change. */
  async #checkpoint({ id, folder }: SessionRow, when: "before" | "after"): Promise<SessionEventBody | undefined> {
    const { checkpointStores } = this.#dependencies;
    if (!checkpointStores) return undefined;
    try {
      const store = await checkpointStores.of(folder);
      const last = (await store.list(id)).at(-1);
      const taken = await store.take(id, when);
      const changes = last ? await store.changes(last, taken) : [];
      return {
        type: "tandem.checkpoint",
        checkpoint_id: taken.id,
        when,
        message_id: null,
        files_changed: changes.length,
        skipped: taken.skippedCount,
      };
    } catch {
      // The answer says that there is no checkpoint.
      return undefined;
    }
  }
}

/** The agent itself would have to ask before it changes such a file. */
function refuse(path: string): void {
  const name = findDecidingName(path);
  if (name !== undefined) {
    throw new RequestError(
      "forbidden",
      `${JSON.stringify(path)} is refused, because ${JSON.stringify(name)} decides which programs run.`,
      { fix: "Change such a file in the folder yourself." },
    );
  }
  if (path.split("/")[0]?.toLowerCase() === MOUNT_FOLDER) {
    throw new RequestError("forbidden", `${JSON.stringify(path)} is among the session's mounts.`, {
      fix: "Change the session's resources instead.",
    });
  }
}
