import { RequestError, type ContextId } from "@tandem/protocol";
import { fromLines, toLines } from "../lines/lines.ts";
import { diffLines } from "../lines/diff-lines.ts";
import { mergeEdits } from "../lines/merge-edits.ts";
import { ContextFiles } from "./context-files.ts";
import type { CommitMessage, ContextFolder, ContextWorktree, FileChange } from "./context-folder.ts";
import { isContextPath } from "./context-path.ts";
import type { FolderLock } from "./folder-lock.ts";
import { followIndex } from "./follow-index.ts";
import type { Author, CommitDetails, Contents, GitHistory } from "./git-history.ts";
import { handLines } from "./hand-lines.ts";
import { checkOut } from "./private-worktree.ts";

/** Somebody else's commits can come between; this often, and no more. */
const TRIES = 20;

const TANDEM: Author = { name: "Tandem", email: "tandem@localhost" };
const BY_HAND: Author = { name: "by hand", email: "by-hand@localhost" };

export interface Parts {
  id: ContextId;
  path: string;
  files: ContextFiles;
  history: GitHistory;
  lock: FolderLock;
  /** Where commits go. */
  ref: () => Promise<string>;
  /** Where a commit stands until its files are written. */
  pendingRef: string;
  isOwn: boolean;
  author: Author;
  /** Where worktrees are made. */
  scratch: string;
}

export class GitContextFolder implements ContextFolder {
  readonly id: ContextId;
  readonly path: string;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.id = parts.id;
    this.path = parts.path;
    this.#parts = parts;
  }

  list(prefix?: string): Promise<string[]> {
    return this.#parts.files.list(prefix);
  }

  read(path: string): Promise<string | undefined> {
    return this.#parts.files.read(path);
  }

  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#parts.lock.hold(work);
  }

  head(): Promise<string> {
    return this.exclusive(async () => {
      await this.#finishPending();
      return this.#recordHand();
    });
  }

  commit(changes: readonly FileChange[], message: CommitMessage): Promise<string> {
    return this.exclusive(async () => {
      const head = await this.head();
      const { files } = this.#parts;
      const contents = new Map<string, Uint8Array | null>();
      for (const { path, expected, content } of changes) {
        if (((await files.read(path)) ?? null) !== expected) throw changedMeanwhile(path);
        if (content !== expected) contents.set(path, content === null ? null : Buffer.from(content));
      }
      if (contents.size === 0) return head;
      return this.#commit(contents, { message: formatMessage(message), author: this.#parts.author, committer: TANDEM });
    });
  }

  revert(commit: string, message?: CommitMessage): Promise<string> {
    return this.exclusive(async () => {
      await this.head();
      const { history, files } = this.#parts;
      const after = await history.tree(commit);
      const before = await history.tree(await history.resolve(`${commit}^`));
      const paths = differing(before, after);
      const blobs = await history.blobs(
        paths.flatMap((path) => [after.get(path) ?? [], before.get(path) ?? []].flat()),
      );
      const textOf = (name: string | undefined) => (name === undefined ? null : blobs.get(name)!.toString("utf8"));
      const changes: FileChange[] = [];
      for (const path of paths) {
        const [made, wanted] = [textOf(after.get(path)), textOf(before.get(path))];
        const current = (await files.read(path)) ?? null;
        const edits = diffLines(toLines(made), toLines(wanted));
        const { lines, outcomes } = mergeEdits(toLines(made), toLines(current), edits);
        if (outcomes.includes("conflict")) {
          throw new RequestError("conflict", `${path} has changed since, where it would have to be undone.`, {
            fix: "Change the file itself.",
          });
        }
        const text = fromLines(lines);
        changes.push({ path, expected: current, content: text === "" && wanted === null ? null : text });
      }
      const subject = (await history.run(["log", "-1", "--format=%s", commit])).trim();
      const { trailers, ...rest } = message ?? { subject: `Undo: ${subject}` };
      return this.commit(changes, { ...rest, trailers: { ...trailers, Reverts: commit } });
    });
  }

  async log(limit: number): Promise<{ commit: string; at: string; subject: string; proposal: string | null }[]> {
    const head = await this.head();
    const format = "%H%x00%cI%x00%s%x00%(trailers:key=Tandem-Proposal,valueonly,separator=%x20)";
    const lines = (await this.#parts.history.run(["log", `--max-count=${limit}`, `--format=${format}`, head])).split(
      "\n",
    );
    return lines.filter(Boolean).map((line) => {
      const [commit = "", at = "", subject = "", proposal = ""] = line.split("\0");
      return { commit, at, subject, proposal: proposal === "" ? null : proposal };
    });
  }

  async handLines(paths: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
    return handLines(this.#parts.history, await this.head(), paths);
  }

  async worktree(name: string, { under }: { under?: readonly string[] } = {}): Promise<ContextWorktree> {
    const head = await this.head();
    const { history, scratch } = this.#parts;
    const tree = [...(await history.tree(head))].filter(
      ([path]) => isContextPath(path) && (under === undefined || under.some((prefix) => path.startsWith(prefix))),
    );
    const blobs = await history.blobs(tree.map(([, blob]) => blob));
    return checkOut(scratch, name, new Map(tree.map(([path, blob]) => [path, blobs.get(blob)!])));
  }

  /** What stands in the folder and not in the last commit was written by people. Returns the head. */
  async #recordHand(): Promise<string> {
    const { files, history, ref } = this.#parts;
    const head = await history.resolve(await ref());
    const tree = await history.tree(head);
    const changes = new Map<string, Uint8Array | null>();
    const paths = new Set(await files.list());
    for (const path of paths) {
      const bytes = await files.readBytes(path).catch(ignoreTooLarge);
      if (bytes !== undefined && tree.get(path) !== history.hash(bytes)) changes.set(path, bytes);
    }
    for (const path of tree.keys()) if (isContextPath(path) && !paths.has(path)) changes.set(path, null);
    if (changes.size === 0 && head !== undefined) return head;
    return this.#commit(changes, { message: "Edited by hand\n", author: BY_HAND, committer: TANDEM });
  }

  async #commit(changes: Contents, details: CommitDetails): Promise<string> {
    const { history, ref, pendingRef } = this.#parts;
    // From here on, what is in `pendingRef` will be done: by us, or by whoever comes after we died.
    await history.commit(pendingRef, await history.resolve(await ref()), changes, details);
    return (await this.#finishPending())!;
  }

  /** Writes the files of a commit that was made, and then lets it be the head. */
  async #finishPending(): Promise<string | undefined> {
    const { history, files, pendingRef, isOwn } = this.#parts;
    let pending = await history.resolve(pendingRef);
    if (pending === undefined) return undefined;
    let parent = await history.resolve(`${pending}^`);
    const [before, after] = [await history.tree(parent), await history.tree(pending)];
    const paths = differing(before, after);
    const blobs = await history.blobs(paths.flatMap((path) => after.get(path) ?? []));
    const contents = new Map(paths.map((path) => [path, blobs.get(after.get(path) ?? "") ?? null]));
    for (const [path, content] of contents) {
      const bytes = await files.readBytes(path);
      // Somebody has saved the file in this very moment: theirs stays, and is recorded after ours.
      if ((bytes && history.hash(bytes)) !== before.get(path)) continue;
      if (content === null) await files.remove(path);
      else await files.write(path, content);
    }
    const ref = await this.#parts.ref();
    for (let tries = 1; ; tries += 1) {
      const head = await history.resolve(ref);
      if (head === pending || (head === parent && (await history.move(ref, pending, parent)))) break;
      if (tries === TRIES) throw neverStill();
      // A person's own commit has come between: ours goes on top of it.
      parent = head;
      pending = await history.commit(pendingRef, head, contents, await history.details(pending));
    }
    if (isOwn) await followIndex(history, paths, before, after);
    await history.drop(pendingRef);
    return pending;
  }
}

/** Paths of ours that two trees do not have in common. */
function differing(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => isContextPath(path) && before.get(path) !== after.get(path));
}

function formatMessage({ subject, body, trailers = {} }: CommitMessage): string {
  const lines = Object.entries(trailers).map(([key, value]) => `${key}: ${value.replaceAll(/\s+/g, " ").trim()}`);
  const parts = [subject.replaceAll(/\s+/g, " ").trim(), body?.trim() ?? "", lines.join("\n")];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

const neverStill = (): RequestError =>
  new RequestError("conflict", "The context's history was changed by others again and again.", {
    fix: "Try again when they are done.",
  });

const changedMeanwhile = (path: string): RequestError =>
  new RequestError("conflict", `${path} was changed by somebody else in the meantime.`, { fix: "Look at it again." });

/** It stays where it is, and out of the history. */
function ignoreTooLarge(error: unknown): undefined {
  if (error instanceof RequestError && error.code === "too_large") return undefined;
  throw error;
}
