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
import { findDecidingName } from "@tandem/policy";
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
import { isoNow, type Clock } from "../host/clock.ts";

/**
 * Prepares the folders of sessions: an existing folder, a git worktree of it or of a remote's clone, or a private scratch
 * folder.
 */
export class SessionPlaces {
  readonly #roots: AllowedRoots;
  readonly #stateFolder: string;
  readonly #scratch: string;
  readonly #maker: WorktreeMaker;
  readonly #clones: RemoteClones;
  readonly #machine: string | undefined;
  readonly #clock: Clock;

  constructor(
    roots: AllowedRoots,
    stateFolder: string,
    maker: WorktreeMaker,
    { hostVariables, fleet, clock }: Pick<HostSettings & FleetMembership, "hostVariables" | "fleet"> & { clock: Clock },
  ) {
    this.#machine = fleet?.worker.machine;
    this.#clock = clock;
    this.#clones = new RemoteClones(join(stateFolder, "clones"), hostVariables);
    this.#roots = roots;
    this.#stateFolder = stateFolder;
    this.#scratch = join(stateFolder, "scratch");
    this.#maker = maker;
  }

  /**
   * Creates the folder of a new session. The session's `metadata` may name its worktree; `begin` overrides the environment's
   * start commit.
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

  /** Checks a remote. A local folder is accepted only if sessions may work there. */
  async checkRemote(text: string): Promise<GitRemote> {
    const remote = parseRemote(text);
    return remote.path === undefined ? remote : { ...remote, url: await this.resolve(remote.path) };
  }

  /** The workers that have this folder; null with a single process. */
  placeOf(environment: Environment): string | null {
    return this.#machine === undefined ? null : placeOf(environment, this.#machine);
  }

  /**
   * Resolves a folder that sessions may work in. A folder that contains Tandem's state is rejected because it contains its
   * tokens.
   */
  async resolve(path: string): Promise<string> {
    const folder = await this.#roots.resolve(path);
    if (!isInside(folder, this.#stateFolder)) return folder;
    throw new RequestError(
      "forbidden",
      `${folder} holds Tandem's own state, its tokens among it (${this.#stateFolder}).`,
      { fix: "Work in a folder below it, or set TANDEM_HOME to a folder elsewhere." },
    );
  }

  /** Removes a session's folder. Throws `conflict` for a worktree with work that exists nowhere else. */
  async remove(row: SessionRow): Promise<void> {
    if (dirname(row.folder) === this.#scratch) await removeFolder(this.#scratch, row.folder);
    if (row.folder === this.#maker.book.folderOf(row.id)) await this.#maker.drop(row.id);
  }

  /** Removes the worktree of an archived session, if configured and nothing would be lost. */
  async archived(row: SessionRow): Promise<void> {
    if (!this.#maker.settings.removeAtArchive || row.folder !== this.#maker.book.folderOf(row.id)) return;
    if ((await this.#maker.unsaved(row.id)) === undefined) await this.#maker.drop(row.id);
  }

  /**
   * Copies uploaded files into the session's folder. Existing files are not overwritten. Refuses paths that control which
   * programs run before anything is written: an agent would have to ask for them.
   */
  async placeFiles(folder: string, wanted: SessionDraft["files"], files: FileStore): Promise<SessionRow["resources"]> {
    const targets = await Promise.all(
      wanted.map(async ({ file_id: id, mount_path: mount }) => {
        const metadata = await files.get(id);
        if (!metadata) throw new RequestError("not_found", `There is no file ${id}.`);
        return { id, target: refuseDeciding(mount ?? basename(metadata.filename)) };
      }),
    );
    const placed: SessionRow["resources"] = [];
    for (const { id, target } of targets) {
      const content = await files.content(id as FileId);
      if (!content) throw new RequestError("not_found", `There is no file ${id}.`);
      const path = await writeInside(folder, target, content);
      const at = isoNow(this.#clock);
      placed.push({ type: "file", id: newId("file"), file_id: id, mount_path: path, created_at: at, updated_at: at });
    }
    return placed;
  }
}

function refuseDeciding(path: string): string {
  const name = findDecidingName(path);
  if (name === undefined) return path;
  throw new RequestError(
    "forbidden",
    `mount_path: ${JSON.stringify(path)} is refused, because ${JSON.stringify(name)} decides which programs run.`,
    { fix: "Choose another path; put such a file into the folder yourself." },
  );
}
