import type { ContextId } from "@tandem/protocol";
import type { HandEdit } from "./hand-edits.ts";

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
  /**
   * The same paths, each with a text that stays as long as the file does, so that what was made of it can be kept. Undefined
   * if it has changed just now: it may be changed again without a sign.
   */
  stamps(prefix?: string): Promise<ReadonlyMap<string, string | undefined>>;
  /** Undefined if it is not there. A path that leads outside of the folder is refused. */
  read(path: string): Promise<string | undefined>;
  /** The commit that a run starts from; what people have changed since the last of ours is recorded first. */
  head(): Promise<string>;
  /**
   * Writes files and records them as one commit. A file whose content is not `expected` any more is a conflict, and then
   * nothing is written at all. Returns the commit.
   */
  commit(changes: readonly FileChange[], message: CommitMessage): Promise<string>;
  /**
   * A private copy of the folder at its head, for an agent to work in: plain files, whole or those under some prefixes.
   * Removed by its owner, or at the next start.
   */
  worktree(name: string, options?: { under?: readonly string[] }): Promise<ContextWorktree>;
  /** Undoes a commit of ours, as a new commit; where its lines have changed since it is a conflict, and nothing is done. */
  revert(commit: string, message?: CommitMessage): Promise<string>;
  /**
   * Lines, from 1, of what these files are at the head, that were last written by a person: in an editor, by a commit, or as
   * their own words in a proposal. The others are ours. Files without such lines are left out.
   */
  handLines(paths: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<number>>>;
  /** What people have changed in these files, each change with the text before and after it; without those that nobody has. */
  handEdits(paths: readonly string[]): Promise<ReadonlyMap<string, readonly HandEdit[]>>;
  /** Holds off every other writer of the folder, in this process and others, while `work` runs; its own commits are let through. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
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
