import { join } from "node:path";
import {
  RequestError,
  type AuditNote,
  type WorktreeApply,
  type WorktreeApplyParams,
  type WorktreeMerge,
  type WorktreeMergeParams,
  type WorktreePrune,
  type WorktreeRemoveParams,
  type WorktreeStatus,
  type WorktreeView,
} from "@tandem/protocol";
import type { SessionRow, Store } from "@tandem/storage";
import {
  applyPatch,
  findUnsaved,
  git,
  mergeWorktree,
  readWorktreePatch,
  openRepository,
  runGit,
  undoMerge,
  type Person,
  type WorktreePatch,
} from "@tandem/workspace";
import { SerialQueue } from "../host/serial-queue.ts";
import type { WorktreeRecord } from "../host/worktree-registry.ts";
import type { WorktreeMaker } from "./worktree-maker.ts";

const NO_AUTHOR: Person = { name: "Tandem", email: "tandem@localhost" };

/** Worktrees of sessions on this machine. Operations are serialised because they share repositories. `by` is the caller's name. */
export class WorktreeService {
  readonly #maker: WorktreeMaker;
  readonly #store: Store;
  readonly #archive: (session: string, by: string) => Promise<unknown>;
  readonly #note: (note: AuditNote) => Promise<void>;
  readonly #home: string | undefined;
  readonly #serial = new SerialQueue();

  constructor(parts: {
    maker: WorktreeMaker;
    store: Store;
    archive: (session: string, by: string) => Promise<unknown>;
    note: (note: AuditNote) => Promise<void>;
    /** The location of the user's git settings. */
    home: string | undefined;
  }) {
    this.#maker = parts.maker;
    this.#store = parts.store;
    this.#archive = parts.archive;
    this.#note = parts.note;
    this.#home = parts.home;
  }

  /** Newest first. */
  async list(): Promise<WorktreeView[]> {
    const entries = await this.#maker.registry.list();
    return Promise.all(entries.map(async (entry) => view(entry, await this.#store.sessions.get(entry.session))));
  }

  async status(session: string): Promise<WorktreeStatus> {
    const entry = await this.#entry(session);
    const [row, unsaved, patch, commits] = await Promise.all([
      this.#store.sessions.get(session),
      findUnsaved(entry.folder, entry.prepared),
      this.#patch(entry),
      git(await openRepository(entry.folder), ["rev-list", "--count", `${entry.commit}..HEAD`]),
    ]);
    const { setup, copied, skipped, merged, applied } = entry;
    const { files } = patch;
    return { ...view(entry, row), commits: Number(commits), unsaved, files, setup, copied, skipped, merged, applied };
  }

  /** All its changes since it was created, committed or not, in the format of `git apply`. */
  async patch(session: string): Promise<string> {
    return (await this.#patch(await this.#entry(session))).patch;
  }

  /** Merges its commits into its source branch. Never over a conflict or uncommitted changes. */
  merge(session: string, params: WorktreeMergeParams, by: string): Promise<WorktreeMerge> {
    return this.#serial.run(() => (params.undo ? this.#unmerge(session, by) : this.#merge(session, params, by)));
  }

  /** Applies its patch to the files of its source folder; index and branches there stay unchanged. */
  apply(session: string, params: WorktreeApplyParams, by: string): Promise<WorktreeApply> {
    return this.#serial.run(() =>
      params.undo ? this.#unapply(session, params, by) : this.#apply(session, params, by),
    );
  }

  /** Removes it and archives its session. Fails with `conflict` and lists the work that exists nowhere else. */
  remove(session: string, params: WorktreeRemoveParams, by: string): Promise<void> {
    return this.#serial.run(async () => {
      const { folder, branch, prepared } = await this.#entry(session);
      if (!params.discard) {
        const { uncommitted, commits, stashes } = await findUnsaved(folder, prepared);
        const isKept = uncommitted.length > 0 || (!params.keep_branch && commits + stashes > 0);
        const why = isKept && (await this.#maker.unsaved(session));
        if (why) throw keeps(session, why);
      }
      const row = await this.#store.sessions.get(session);
      // No session may work in a folder that is being removed.
      if (row && !row.archivedAt) await this.#archive(session, by);
      await this.#maker.drop(session, { discard: params.discard });
      await this.#note({ kind: "worktree.removed", actor: by, session, details: { folder, branch, ...params } });
    });
  }

  /** Removes worktrees of archived and deleted sessions that have no unsaved work. */
  prune(dryRun: boolean, by: string): Promise<WorktreePrune> {
    return this.#serial.run(async () => {
      const outcome: WorktreePrune = { removed: [], kept: [] };
      for (const { session, folder, branch } of await this.#maker.registry.list()) {
        const row = await this.#store.sessions.get(session);
        if (row && !row.archivedAt) continue;
        const why = await this.#maker.unsaved(session).catch((error: unknown) => String(error));
        if (why !== undefined) {
          outcome.kept.push({ session_id: session, why });
          continue;
        }
        outcome.removed.push(session);
        if (dryRun) continue;
        await this.#maker.drop(session);
        await this.#note({ kind: "worktree.removed", actor: by, session, details: { folder, branch } });
      }
      return outcome;
    });
  }

  async #merge(session: string, params: WorktreeMergeParams, by: string): Promise<WorktreeMerge> {
    const entry = await this.#entry(session);
    const into = params.into ?? entry.from;
    if (into === null) {
      throw new RequestError("invalid_request", "The worktree came from no branch.", {
        fix: "Name the branch that its commits are to go to, as `into`.",
      });
    }
    const { uncommitted } = await findUnsaved(entry.folder, entry.prepared);
    const { dry_run: dryRun, message = `Merge ${entry.branch}` } = params;
    const who = await this.#person(entry.repository);
    const merge = await mergeWorktree(entry.folder, { into, message, who, dryRun });
    if (merge.kind === "nothing" && uncommitted.length > 0) {
      throw new RequestError("conflict", `Nothing of it is committed: ${uncommitted.slice(0, 3).join(", ")}.`, {
        fix: "Have the agent commit its work, or take the patch instead.",
      });
    }
    const merged = { ...merge, left: uncommitted, dry_run: dryRun };
    if (!dryRun && merge.kind !== "nothing") {
      await this.#maker.registry.put({ ...entry, merged });
      await this.#note({ kind: "worktree.merged", actor: by, session, details: { ...merge } });
    }
    return merged;
  }

  async #unmerge(session: string, by: string): Promise<WorktreeMerge> {
    const entry = await this.#entry(session);
    const { merged } = entry;
    if (!merged) throw nothingToUndo("merged");
    await undoMerge(entry.folder, merged);
    await this.#maker.registry.put({ ...entry, merged: null });
    await this.#note({ kind: "worktree.undone", actor: by, session, details: { what: "merge", into: merged.into } });
    return { ...merged, before: merged.after, after: merged.before };
  }

  async #apply(session: string, { dry_run: dryRun }: WorktreeApplyParams, by: string): Promise<WorktreeApply> {
    const entry = await this.#entry(session);
    const folder = entry.repository;
    if (entry.applied && !dryRun) {
      throw new RequestError("conflict", `The patch was applied to ${folder} already.`, {
        fix: "Undo it first, with `undo`.",
      });
    }
    const { patch } = await this.#patch(entry);
    const { files, undo } = await applyPatch(folder, patch, { dryRun });
    if (!dryRun && files.length > 0) {
      await this.#maker.registry.putUndoPatch(session, undo);
      await this.#maker.registry.put({ ...entry, applied: { folder, files } });
      await this.#note({ kind: "worktree.applied", actor: by, session, details: { folder, files } });
    }
    return { folder, files, dry_run: dryRun, undone: false };
  }

  async #unapply(session: string, { dry_run: dryRun }: WorktreeApplyParams, by: string): Promise<WorktreeApply> {
    const entry = await this.#entry(session);
    const undo = await this.#maker.registry.undoPatch(session);
    if (!entry.applied || undo === undefined) throw nothingToUndo("applied");
    const { folder, files } = entry.applied;
    await applyPatch(folder, undo, { dryRun });
    if (!dryRun) {
      await this.#maker.registry.put({ ...entry, applied: null });
      await this.#note({ kind: "worktree.undone", actor: by, session, details: { what: "patch", folder, files } });
    }
    return { folder, files, dry_run: dryRun, undone: !dryRun };
  }

  /** Since it diverged from its branch: later commits of that branch are not its own. */
  async #patch({ folder, from, commit, prepared }: WorktreeRecord): Promise<WorktreePatch> {
    const base =
      from === null
        ? undefined
        : await runGit(await openRepository(folder), [
            "merge-base",
            "--end-of-options",
            `refs/heads/${from}`,
            "HEAD",
          ]).then(({ exitCode, stdout }) => (exitCode === 0 ? stdout.toString("utf8").trim() : undefined));
    return readWorktreePatch(folder, base ?? commit, prepared);
  }

  async #entry(session: string): Promise<WorktreeRecord> {
    const entry = await this.#maker.registry.get(session);
    if (entry) return entry;
    const row = await this.#store.sessions.get(session);
    throw new RequestError(
      "not_found",
      row ? `The session ${session} has no worktree on this machine.` : `There is no session ${session}.`,
    );
  }

  /** The commit author: from the repository, else from the user's settings. */
  async #person(repository: string): Promise<Person> {
    const opened = await openRepository(repository);
    const ask = async (...args: string[]): Promise<string> =>
      (await runGit(opened, ["config", ...args])).stdout.toString("utf8").trim();
    const places = [[], ...(this.#home === undefined ? [] : [["--file", join(this.#home, ".gitconfig")]])];
    for (const place of places) {
      const [name, email] = [await ask(...place, "user.name"), await ask(...place, "user.email")];
      if (name && email) return { name, email };
    }
    return NO_AUTHOR;
  }
}

function view(entry: WorktreeRecord, row: SessionRow | undefined): WorktreeView {
  const { session, folder, repository, branch, from, commit, ports, createdAt } = entry;
  return {
    type: "worktree",
    session_id: session,
    session: row ? (row.archivedAt ? "archived" : row.status) : "gone",
    title: row?.title ?? null,
    folder,
    repository,
    branch,
    from,
    commit,
    ports: { from: ports.from, count: ports.size },
    created_at: createdAt,
  };
}

const keeps = (session: string, why: string): RequestError =>
  new RequestError("conflict", `The worktree of ${session} is kept: ${why}.`, {
    fix: "Merge or patch it first; or keep its branch, which has the commits; or discard the uncommitted changes.",
  });

const nothingToUndo = (what: string): RequestError =>
  new RequestError("conflict", `Nothing of the worktree was ${what}, or it was undone already.`);
