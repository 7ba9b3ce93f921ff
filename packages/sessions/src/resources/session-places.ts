import { basename, dirname, join } from "node:path";
import {
  ENVIRONMENT_METADATA,
  newId,
  RequestError,
  SESSION_METADATA,
  type Environment,
  type FileId,
  type SessionId,
} from "@tandem/protocol";
import type { FileStore, SessionRow } from "@tandem/storage";
import {
  createScratchFolder,
  isInside,
  parseRemote,
  RemoteClones,
  removeFolder,
  writeInside,
  type AllowedRoots,
  type GitRemote,
} from "@tandem/workspace";
import type { FleetMembership } from "../fleet/fleet-settings.ts";
import type { HostSettings } from "../host/host-settings.ts";
import { placeOf } from "../fleet/place.ts";
import type { SessionDraft } from "./session-draft.ts";
import type { WorktreeMaker } from "../worktrees/worktree-maker.ts";

/** Where sessions work: a folder as it is, a git worktree of one or of a remote's clone, or a private scratch folder. */
export class SessionPlaces {
  readonly #roots: AllowedRoots;
  readonly #stateFolder: string;
  readonly #scratch: string;
  readonly #maker: WorktreeMaker;
  readonly #clones: RemoteClones;
  readonly #machine: string | undefined;

  constructor(
    roots: AllowedRoots,
    stateFolder: string,
    maker: WorktreeMaker,
    { hostVariables, fleet }: Pick<HostSettings & FleetMembership, "hostVariables" | "fleet">,
  ) {
    this.#machine = fleet?.worker.machine;
    this.#clones = new RemoteClones(join(stateFolder, "clones"), hostVariables);
    this.#roots = roots;
    this.#stateFolder = stateFolder;
    this.#scratch = join(stateFolder, "scratch");
    this.#maker = maker;
  }

  /**
   * Makes the folder of a new session. `metadata` is the session's, which may name its worktree; `begin` is where that begins,
   * if not where the environment says.
   */
  async prepare(
    environment: Environment,
    session: SessionId,
    metadata: SessionRow["metadata"] = {},
    begin?: string | null,
  ): Promise<string> {
    const { path, isolation, branch: branchKey, git } = ENVIRONMENT_METADATA;
    const { [path]: folder, [git]: remote } = environment.metadata;
    const branch = begin ?? environment.metadata[branchKey];
    const wanted = metadata[SESSION_METADATA.worktree];
    const name = wanted === undefined ? {} : { name: wanted };
    if (remote !== undefined) {
      const clone = await this.#clones.open(await this.checkRemote(remote));
      return this.#maker.make(session, { ...clone, ...name, ...(branch !== undefined && { branch }) });
    }
    if (folder === undefined) return createScratchFolder(this.#scratch, session);
    const repository = await this.resolve(folder);
    if (environment.metadata[isolation] !== "worktree") return repository;
    return this.#maker.make(session, { repository, ...name, ...(branch !== undefined && { branch }) });
  }

  /** A remote that may be cloned. A folder of this machine is one if sessions may work there. */
  async checkRemote(text: string): Promise<GitRemote> {
    const remote = parseRemote(text);
    return remote.path === undefined ? remote : { ...remote, url: await this.resolve(remote.path) };
  }

  /** Which workers have the folder that was made ready here; null where there is but one process. */
  placeOf(environment: Environment): string | null {
    return this.#machine === undefined ? null : placeOf(environment, this.#machine);
  }

  /** A folder's real path, if sessions may work there. One that holds Tandem's own state would hold its tokens, too. */
  async resolve(path: string): Promise<string> {
    const folder = await this.#roots.resolve(path);
    if (!isInside(folder, this.#stateFolder)) return folder;
    throw new RequestError(
      "forbidden",
      `${folder} holds Tandem's own state, its tokens among it (${this.#stateFolder}).`,
      {
        fix: "Work in a folder below it, or set TANDEM_HOME to a folder elsewhere.",
      },
    );
  }

  /** Takes away what was made for a session. A worktree with work in it that is nowhere else stays: `conflict`. */
  async remove(row: SessionRow): Promise<void> {
    if (dirname(row.folder) === this.#scratch) await removeFolder(this.#scratch, row.folder);
    if (row.folder === this.#maker.book.folderOf(row.id)) await this.#maker.drop(row.id);
  }

  /** The worktree of an archived session goes too, where that is wanted and nothing would be lost. */
  async archived(row: SessionRow): Promise<void> {
    if (!this.#maker.settings.removeAtArchive || row.folder !== this.#maker.book.folderOf(row.id)) return;
    if ((await this.#maker.unsaved(row.id)) === undefined) await this.#maker.drop(row.id);
  }

  /** Puts uploaded files where the session's agent finds them. What is there already is not overwritten. */
  async placeFiles(folder: string, wanted: SessionDraft["files"], files: FileStore): Promise<SessionRow["resources"]> {
    const placed: SessionRow["resources"] = [];
    for (const { file_id: id, mount_path: mount } of wanted) {
      const [metadata, content] = await Promise.all([files.get(id), files.content(id as FileId)]);
      if (!metadata || !content) throw new RequestError("not_found", `There is no file ${id}.`);
      const path = await writeInside(folder, mount ?? basename(metadata.filename), content);
      const at = new Date().toISOString();
      placed.push({ type: "file", id: newId("file"), file_id: id, mount_path: path, created_at: at, updated_at: at });
    }
    return placed;
  }
}
