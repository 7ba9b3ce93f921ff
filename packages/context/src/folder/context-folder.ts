import type { ContextId } from "@tandem/protocol";
import type { HandEdit } from "./hand-edits.ts";

/**
 * The context as plain text: `catalogue/<connection>/<schema>.<table>.yaml`, `metrics/<connection>/<entity>.yaml`,
 * `wiki/*.md`, `memory/*.md`, and `context.yaml` with its id. The working files are the truth, committed or not, because people edit them with any
 * editor. Our commits bypass the user's index and contain only our changes. In its own repository they go to its
 * branch; in the project's repository to `refs/tandem/context`, and the user commits the files at any time.
 */
export interface ContextFolder {
  readonly id: ContextId;
  /** Real path. */
  readonly path: string;
  /** Sorted relative paths of files under a prefix (`wiki/`), with `/`. */
  list(prefix?: string): Promise<string[]>;
  /**
   * The same paths with a stamp that changes with the file, for caching derived data. Undefined if the file changed
   * just now, because it could change again within the same timestamp.
   */
  stamps(prefix?: string): Promise<ReadonlyMap<string, string | undefined>>;
  /** Undefined if it does not exist. Rejects paths out of the folder. */
  read(path: string): Promise<string | undefined>;
  /** The commit that a run starts from. Commits people's changes first. */
  head(): Promise<string>;
  /**
   * Writes files as one commit. Rejects with a conflict and writes nothing if a file is not as `expected`. Returns the
   * commit.
   */
  commit(changes: readonly FileChange[], message: CommitMessage): Promise<string>;
  /**
   * A private copy of the head for an agent, complete or restricted to prefixes. Removed by its owner, or at the next
   * start.
   */
  worktree(name: string, options?: { under?: readonly string[] }): Promise<ContextWorktree>;
  /** Reverts one of our commits with a new commit; rejects with a conflict if its lines have changed since. */
  revert(commit: string, message?: CommitMessage): Promise<string>;
  /**
   * Lines (from 1) at the head that a person wrote last: in an editor, in a commit, or as their own text in a proposal.
   * Files without such lines are omitted.
   */
  handLines(paths: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<number>>>;
  /** People's changes to these files, with the text before and after. Files without changes are omitted. */
  handEdits(paths: readonly string[]): Promise<ReadonlyMap<string, readonly HandEdit[]>>;
  /** Excludes all other writers, in any process, while `work` runs; its own commits are allowed. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
  /**
   * The commit that changed a file last, and whether the working file is as committed. Unlike `head`, it commits nothing.
   * Undefined if the file was never committed.
   */
  lastChange(path: string): Promise<{ commit: string; isCurrent: boolean } | undefined>;
  /** The newest commits first; with a path, only those that changed that file. */
  log(
    limit: number,
    path?: string,
  ): Promise<{ commit: string; at: string; subject: string; proposal: string | null }[]>;
}

export interface FileChange {
  path: string;
  /** Null: the file must not exist. */
  expected: string | null;
  /** Null: the file is removed. */
  content: string | null;
}

export interface CommitMessage {
  subject: string;
  body?: string;
  trailers?: Readonly<Record<string, string>>;
}

export interface ContextWorktree extends AsyncDisposable {
  readonly path: string;
  /** Changes since its creation. */
  changes(): Promise<FileChange[]>;
}
