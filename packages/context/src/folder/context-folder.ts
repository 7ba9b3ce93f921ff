import type { ContextId } from "@tandem/protocol";

/**
 * The context as plain text: `catalogue/<connection>/<schema>.<table>.yaml`, `wiki/*.md`, `memory/*.md`, and `context.yaml`
 * with its id. What stands in the folder is the truth, committed or not: people edit it with any editor. Our own commits are
 * made beside the user's index, and hold our changes alone. In a repository of its own they go onto its branch; in the
 * project's, onto `refs/tandem/context`, and the user commits the files whenever they like.
 */
export interface ContextFolder {
  readonly id: ContextId;
  /** Its real path. */
  readonly path: string;
  /** Paths of files under a prefix (`wiki/`), sorted; relative, with `/`. */
  list(prefix?: string): Promise<string[]>;
  /** Undefined if it is not there. A path that leads outside of the folder is refused. */
  read(path: string): Promise<string | undefined>;
  /** The commit that a run starts from; what people have changed since the last of ours is recorded first. */
  head(): Promise<string>;
  /**
   * Writes files and records them as one commit. A file whose content is not `expected` any more is a conflict, and then
   * nothing is written at all. Returns the commit.
   */
  commit(changes: readonly FileChange[], message: CommitMessage): Promise<string>;
  /** A private copy of the folder at its head, for an agent to work in. Removed by its owner, or at the next start. */
  worktree(name: string): Promise<ContextWorktree>;
  /** Undoes a commit of ours, as a new commit; lines that have changed since are conflicts. */
  revert(commit: string): Promise<string>;
  log(limit: number): Promise<{ commit: string; at: string; subject: string; proposal: string | null }[]>;
}

export interface FileChange {
  path: string;
  /** Null: the file is not there. */
  expected: string | null;
  /** Null: it is removed. */
  content: string | null;
}

export interface CommitMessage {
  subject: string;
  body?: string;
  trailers?: Readonly<Record<string, string>>;
}

export interface ContextWorktree extends AsyncDisposable {
  readonly path: string;
  /** What was changed in it, compared with where it began. */
  changes(): Promise<FileChange[]>;
}
