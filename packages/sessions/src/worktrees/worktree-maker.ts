import { dirname, join } from "node:path";
import { RequestError, type SessionId, isoNow, type Clock } from "@tandem/protocol";
import type { OsUser } from "@tandem/sandbox";
import { runShell } from "../sandbox/run-shell.ts";
import { makeShared } from "../sandbox/give-folder.ts";
import type { ProgramSandbox, ProgramSession } from "../sandbox/program-sandbox.ts";
import { sandboxFolder } from "../sandbox/sandbox-folder.ts";
import {
  copyIncluded,
  createWorktree,
  findUnsaved,
  isSaved,
  PortBlocks,
  readPrepared,
  removeTree,
  removeWorktree,
  type PortBlock,
} from "@tandem/workspace";
import { WorktreeRegistry, worktreeVariables } from "../host/worktree-registry.ts";

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

/** Enough to diagnose a failure. */
const SHOWN_LINES = 15;

export interface WorktreeMakerParts {
  clock: Clock;
  stateFolder: string;
  /** The OS user of the sessions' programs, who runs git. */
  user: OsUser | undefined;
  settings: WorktreeSettings;
  hostVariables: Readonly<Record<string, string | undefined>>;
  /** The sandbox of the setup command; undefined if there is to be none. */
  openSandbox: (session: ProgramSession) => Promise<ProgramSandbox | undefined>;
}

interface WorktreeSource {
  repository: string;
  /** Of the session. Its networking counts for the setup. */
  environmentId: string;
  branch?: string;
  name?: string;
}

/** Creates worktrees that can be built and run, and removes them completely. */
export class WorktreeMaker {
  readonly registry: WorktreeRegistry;
  readonly settings: WorktreeSettings;
  readonly #ports: PortBlocks;
  readonly #parts: WorktreeMakerParts;

  constructor(parts: WorktreeMakerParts) {
    this.#parts = parts;
    this.registry = new WorktreeRegistry(join(parts.stateFolder, "worktrees"));
    this.settings = parts.settings;
    this.#ports = new PortBlocks(join(parts.stateFolder, "ports"));
  }

  /** Creates a worktree and returns its folder. A failed setup leaves nothing behind. */
  async make(session: SessionId, { environmentId, ...from }: WorktreeSource): Promise<string> {
    const { copy, setup: command } = this.settings;
    const into = this.registry.folderOf(session);
    await makeShared(dirname(into), this.#parts.stateFolder, this.#parts.user);
    const made = await createWorktree({ ...from, into });
    const { folder, repository } = made;
    try {
      const ports = await this.#ports.take(folder, this.settings.ports);
      const { files, skipped } = await copyIncluded(repository, folder, copy);
      const record = {
        session,
        folder,
        repository,
        ports,
        skipped,
        setup: null,
        branch: made.branch,
        from: made.from ?? null,
        commit: made.commit,
        copied: files.length,
        merged: null,
        applied: null,
        createdAt: isoNow(this.#parts.clock),
      };
      if (command !== undefined) {
        // The hosts that people allowed for the repository are found by the record.
        await this.registry.put({ ...record, prepared: {} });
        const variables = worktreeVariables({ folder, repository, ports });
        const output = await this.#setUp(command, { id: session, folder, environmentId }, variables);
        await this.registry.put({ ...record, setup: { command, output }, prepared: await readPrepared(folder) });
      } else await this.registry.put({ ...record, prepared: await readPrepared(folder) });
      return folder;
    } catch (error) {
      await this.drop(session, { discard: true });
      await removeTree(sandboxFolder(this.#parts.stateFolder, session));
      throw error;
    }
  }

  /** Runs the setup command in the session's sandbox: it executes files of the repository. Returns the end of its output. */
  async #setUp(command: string, session: ProgramSession, variables: Record<string, string>): Promise<string> {
    const { stateFolder, hostVariables, openSandbox } = this.#parts;
    const failed = (how: string, cause?: unknown): RequestError =>
      new RequestError("conflict", `The setup of the worktree ${how}`, {
        fix: "Fix worktrees.setup in tandem.yaml, or the program that it calls; it runs in a fresh worktree, in the sandbox.",
        cause,
      });
    await using sandbox = await openSandbox(session);
    const timeoutMs = this.settings.setupTimeoutMs;
    const { folder } = session;
    const run = await runShell(command, { folder, stateFolder, hostVariables, variables, sandbox, timeoutMs }).catch(
      (error: unknown) => {
        throw error instanceof RequestError ? failed(`failed: ${command}\n${error.message}`, error) : error;
      },
    );
    if (run.exitCode === 0) return run.output;
    const lines = run.output.trimEnd().split("\n").slice(-SHOWN_LINES).join("\n");
    throw failed(`ended with ${run.exitCode ?? "a signal"}: ${command}\n${lines}`);
  }

  /** Fails with `conflict` for uncommitted work, unless it may be lost. The branch stays if it has commits. */
  async drop(session: string, { discard = false }: { discard?: boolean } = {}): Promise<void> {
    const folder = this.registry.folderOf(session);
    const prepared = (await this.registry.get(session))?.prepared ?? {};
    await removeWorktree(folder, { discard, prepared });
    await this.#ports.free(folder);
    await this.registry.remove(session);
  }

  /** Why a worktree must not be removed; undefined if nothing would be lost. */
  async unsaved(session: string): Promise<string | undefined> {
    const entry = await this.registry.get(session);
    const found = await findUnsaved(this.registry.folderOf(session), entry?.prepared).catch((error: unknown) => {
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
