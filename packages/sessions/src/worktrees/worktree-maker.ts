import { join } from "node:path";
import { RequestError, type SessionId } from "@tandem/protocol";
import {
  copyIncluded,
  createWorktree,
  findUnsaved,
  isSaved,
  PortBlocks,
  readPrepared,
  removeWorktree,
  runSetup,
  type PortBlock,
} from "@tandem/workspace";
import { WorktreeRegistry, worktreeVariables } from "./worktree-registry.ts";

export interface WorktreeSettings {
  /** Patterns of untracked files that a worktree needs. */
  copy: readonly string[];
  /** The setup command. */
  setup: string | undefined;
  setupTimeoutMs: number;
  ports: PortBlock;
  /** Whether to remove an archived session's worktree, if it has no unsaved work. */
  removeAtArchive: boolean;
}

export const DEFAULT_WORKTREES: WorktreeSettings = {
  copy: [],
  setup: undefined,
  setupTimeoutMs: 600_000,
  ports: { from: 20_000, size: 10 },
  removeAtArchive: false,
};

/** Creates worktrees that can be built and run, and removes them completely. */
export class WorktreeMaker {
  readonly book: WorktreeRegistry;
  readonly settings: WorktreeSettings;
  readonly #ports: PortBlocks;
  readonly #variables: () => Promise<Record<string, string>>;
  readonly #ledger: () => Promise<{ add(pid: number): void; remove(pid: number): void }>;

  constructor(parts: {
    stateFolder: string;
    settings: WorktreeSettings;
    /** The setup command's environment, without credentials. */
    variables: () => Promise<Record<string, string>>;
    /** The ledger of processes that the next start ends if this process dies. */
    ledger: () => Promise<{ add(pid: number): void; remove(pid: number): void }>;
  }) {
    this.book = new WorktreeRegistry(join(parts.stateFolder, "worktrees"));
    this.settings = parts.settings;
    this.#ports = new PortBlocks(join(parts.stateFolder, "ports"));
    this.#variables = parts.variables;
    this.#ledger = parts.ledger;
  }

  /** Creates a worktree and returns its folder. A failed setup leaves nothing behind. */
  async make(session: SessionId, from: { repository: string; branch?: string; name?: string }): Promise<string> {
    const { copy, setup: command, setupTimeoutMs: timeoutMs } = this.settings;
    const made = await createWorktree({ ...from, into: this.book.folderOf(session) });
    const { folder, repository } = made;
    try {
      const ports = await this.#ports.take(folder, this.settings.ports);
      const { files, skipped } = await copyIncluded(repository, folder, copy);
      let setup = null;
      if (command !== undefined) {
        const variables = { ...(await this.#variables()), ...worktreeVariables({ folder, repository, ports }) };
        const output = await runSetup({ command, folder, variables, timeoutMs, ledger: await this.#ledger() });
        setup = { command, output };
      }
      await this.book.put({
        session,
        folder,
        repository,
        ports,
        skipped,
        setup,
        branch: made.branch,
        from: made.from ?? null,
        commit: made.commit,
        prepared: await readPrepared(folder),
        copied: files.length,
        merged: null,
        applied: null,
        createdAt: new Date().toISOString(),
      });
      return folder;
    } catch (error) {
      await this.drop(session, { discard: true });
      throw error;
    }
  }

  /** Fails with `conflict` for uncommitted work, unless it may be lost. The branch stays if it has commits. */
  async drop(session: string, { discard = false }: { discard?: boolean } = {}): Promise<void> {
    const folder = this.book.folderOf(session);
    const prepared = (await this.book.get(session))?.prepared ?? {};
    await removeWorktree(folder, { discard, prepared });
    await this.#ports.free(folder);
    await this.book.remove(session);
  }

  /** Why a worktree must not be removed; undefined if nothing would be lost. */
  async unsaved(session: string): Promise<string | undefined> {
    const entry = await this.book.get(session);
    const found = await findUnsaved(this.book.folderOf(session), entry?.prepared).catch((error: unknown) => {
      // A missing folder has no work.
      if (error instanceof RequestError && error.message.includes("does not exist")) return undefined;
      throw error;
    });
    if (!found || isSaved(found)) return undefined;
    const { uncommitted, commits, stashes } = found;
    return [
      ...(uncommitted.length > 0
        ? [`${count(uncommitted.length, "change")} not committed, such as ${uncommitted[0]}`]
        : []),
      ...(commits > 0 ? [`${count(commits, "commit")} on no other branch`] : []),
      ...(stashes > 0 ? [count(stashes, "stash", "stashes")] : []),
    ].join("; ");
  }
}

const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`;
