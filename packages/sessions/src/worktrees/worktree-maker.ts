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
  /** Patterns of files that git does not have and a worktree needs. */
  copy: readonly string[];
  /** A shell command that makes one ready. */
  setup: string | undefined;
  setupTimeoutMs: number;
  ports: PortBlock;
  /** Whether an archived session's worktree goes, if no work in it is nowhere else. */
  removeAtArchive: boolean;
}

export const DEFAULT_WORKTREES: WorktreeSettings = {
  copy: [],
  setup: undefined,
  setupTimeoutMs: 600_000,
  ports: { from: 20_000, size: 10 },
  removeAtArchive: false,
};

/** Makes worktrees that really run, and takes them away with all that is theirs. */
export class WorktreeMaker {
  readonly book: WorktreeRegistry;
  readonly settings: WorktreeSettings;
  readonly #ports: PortBlocks;
  readonly #variables: () => Promise<Record<string, string>>;
  readonly #ledger: () => Promise<{ add(pid: number): void; remove(pid: number): void }>;

  constructor(parts: {
    stateFolder: string;
    settings: WorktreeSettings;
    /** What the setup command inherits: no credential is among it. */
    variables: () => Promise<Record<string, string>>;
    /** Of processes that the next start ends if this one dies. */
    ledger: () => Promise<{ add(pid: number): void; remove(pid: number): void }>;
  }) {
    this.book = new WorktreeRegistry(join(parts.stateFolder, "worktrees"));
    this.settings = parts.settings;
    this.#ports = new PortBlocks(join(parts.stateFolder, "ports"));
    this.#variables = parts.variables;
    this.#ledger = parts.ledger;
  }

  /** The new worktree's folder. One that cannot be made ready leaves nothing. */
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

  /** Work in it that is not committed is a `conflict`, unless it may be lost; its branch stays where it has commits. */
  async drop(session: string, { discard = false }: { discard?: boolean } = {}): Promise<void> {
    const folder = this.book.folderOf(session);
    const prepared = (await this.book.get(session))?.prepared ?? {};
    await removeWorktree(folder, { discard, prepared });
    await this.#ports.free(folder);
    await this.book.remove(session);
  }

  /** Why a worktree is not to be taken away, in words; undefined if nothing would be missed. */
  async unsaved(session: string): Promise<string | undefined> {
    const entry = await this.book.get(session);
    const found = await findUnsaved(this.book.folderOf(session), entry?.prepared).catch((error: unknown) => {
      // A folder that is gone holds nothing.
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
