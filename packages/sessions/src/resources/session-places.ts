import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  ENVIRONMENT_METADATA,
  RequestError,
  SESSION_METADATA,
  type Environment,
  type SessionId,
} from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import {
  createScratchFolder,
  isInside,
  parseRemote,
  RemoteClones,
  removeFolder,
  type AllowedRoots,
  type GitRemote,
} from "@tandem/workspace";
import { removeMounts } from "../mounts/mount-files.ts";
import type { FleetMembership } from "../fleet/fleet-settings.ts";
import type { HostSettings } from "../host/host-settings.ts";
import { placeOf } from "../fleet/place.ts";
import type { WorktreeMaker } from "../worktrees/worktree-maker.ts";

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
    const environmentId = environment.id;
    const branch = begin ?? environment.metadata[branchKey];
    const wanted = metadata[SESSION_METADATA.worktree];
    const name = wanted === undefined ? {} : { name: wanted };
    if (remote !== undefined) {
      const clone = await this.#clones.open(await this.checkRemote(remote));
      return this.#maker.make(session, { ...clone, ...name, environmentId, ...(branch !== undefined && { branch }) });
    }
    if (folder === undefined) return createScratchFolder(this.#scratch, session);
    const repository = await this.resolve(folder);
    if (environment.metadata[isolation] !== "worktree") return repository;
    return this.#maker.make(session, { repository, ...name, environmentId, ...(branch !== undefined && { branch }) });
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
    else if (row.folder === this.#maker.registry.folderOf(row.id)) await this.#maker.drop(row.id);
    else await removeMounts(row);
  }

  /** Removes the folder that an interrupted creation of a session left; the session must not exist. */
  async discard(session: SessionId): Promise<void> {
    await removeFolder(this.#scratch, join(this.#scratch, session));
    if (existsSync(this.#maker.registry.folderOf(session))) await this.#maker.drop(session, { discard: true });
  }

  /** Removes the worktree of an archived session, if configured and nothing would be lost. */
  async archived(row: SessionRow): Promise<void> {
    if (!this.#maker.settings.removeAtArchive || row.folder !== this.#maker.registry.folderOf(row.id)) return;
    if ((await this.#maker.unsaved(row.id)) === undefined) await this.#maker.drop(row.id);
  }
}
