import { type ContextId, inParallel, RequestError } from "@tandem/protocol";
import { diffLines } from "@tandem/workspace";
import { fromLines, toLines } from "../lines/line-edits.ts";
import { mergeEdits } from "../lines/merge-edits.ts";
import type { ContextFiles } from "./context-files.ts";
import type { CommitMessage, ContextFolder, ContextWorktree, FileChange } from "./context-folder.ts";
import { checkPath, CONTEXT_FILE, isContextPath } from "./context-path.ts";
import type { FolderLock } from "./folder-lock.ts";
import { followIndex } from "./follow-index.ts";
import { type Author, type CommitDetails, type Contents, type GitHistory, TANDEM } from "./git-history.ts";
import { type HandEdit, handEdits } from "./hand-edits.ts";
import { handLines } from "./hand-lines.ts";
import { checkOut } from "./private-worktree.ts";

/** Concurrent file accesses. */
const AT_ONCE = 16;

/** Retries after a race with foreign commits. */
const TRIES = 20;

const BY_HAND: Author = { name: "by hand", email: "by-hand@localhost" };

export interface GitContextFolderOptions {
  id: ContextId;
  path: string;
  files: ContextFiles;
  history: GitHistory;
  lock: FolderLock;
  /** Target ref; in its own repository, the checked-out branch. */
  ref: string | undefined;
  /** Holds a commit until its files are written. */
  pendingRef: string;
  author: Author;
  /** Parent folder of worktrees. */
  scratch: string;
}

export class GitContextFolder implements ContextFolder {
  readonly id: ContextId;
  readonly path: string;
  readonly #parts: GitContextFolderOptions;
  /** The last known position, and the state of the refs at that time. */
  #known: { position: KnownPosition; state: string | undefined } | undefined;
  /** Blobs of files as last read. */
  readonly #blobs = new Map<string, { stamp: string; blob: string }>();

  constructor(parts: GitContextFolderOptions) {
    this.id = parts.id;
    this.path = parts.path;
    this.#parts = parts;
  }

  list(prefix?: string): Promise<string[]> {
    return this.#parts.files.list(prefix);
  }

  stamps(prefix?: string): Promise<ReadonlyMap<string, string | undefined>> {
    return this.#parts.files.stamps(prefix);
  }

  read(path: string): Promise<string | undefined> {
    return this.#parts.files.read(path);
  }

  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#parts.lock.hold(work);
  }

  async head(): Promise<string> {
    return (await this.#settle()).head;
  }

  /** Completes the commit of a crashed process, and commits people's changes. */
  #settle(): Promise<HistoryPosition & { head: string }> {
    return this.exclusive(async () => {
      const place = await this.#position();
      return this.#recordHand(place.pending === undefined ? place : await this.#resume(place, place.pending));
    });
  }

  commit(changes: readonly FileChange[], message: CommitMessage): Promise<string> {
    return this.exclusive(async () => {
      const place = await this.#settle();
      const { files } = this.#parts;
      const contents = new Map<string, Uint8Array | null>();
      await inParallel(changes, AT_ONCE, async ({ path, expected, content }) => {
        if (((await files.read(path)) ?? null) !== expected) throw changedMeanwhile(path);
        if (content !== expected) contents.set(path, content === null ? null : Buffer.from(content));
      });
      if (contents.size === 0) return place.head;
      const details = { message: formatMessage(message), author: this.#parts.author, committer: TANDEM };
      return (await this.#commit(place, contents, details)).head;
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

  async log(
    limit: number,
    path?: string,
  ): Promise<{ commit: string; at: string; subject: string; proposal: string | null }[]> {
    const head = await this.head();
    const format = "%H%x00%cI%x00%s%x00%(trailers:key=Tandem-Proposal,valueonly,separator=%x20)";
    const only = path === undefined ? [] : ["--", `:(top,literal)${checkPath(path)}`];
    const args = ["log", `--max-count=${limit}`, `--format=${format}`, head, ...only];
    const lines = (await this.#parts.history.run(args)).split("\n");
    return lines.filter(Boolean).map((line) => {
      const [commit = "", at = "", subject = "", proposal = ""] = line.split("\0");
      return { commit, at, subject, proposal: proposal === "" ? null : proposal };
    });
  }

  async lastChange(path: string): Promise<{ commit: string; isCurrent: boolean } | undefined> {
    const { history, files } = this.#parts;
    const { head } = await this.#position();
    const blob = (await history.tree(head)).get(path);
    if (head === undefined || blob === undefined) return undefined;
    const commit = (await history.run(["log", "-1", "--format=%H", head, "--", `:(top,literal)${path}`])).trim();
    const bytes = await files.readBytes(path);
    return { commit, isCurrent: bytes !== undefined && history.hash(bytes) === blob };
  }

  async handLines(paths: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
    return handLines(this.#parts.history, await this.head(), paths);
  }

  async handEdits(paths: readonly string[]): Promise<ReadonlyMap<string, readonly HandEdit[]>> {
    return handEdits(this.#parts.history, await this.head(), paths);
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

  /** Current position of the history. Runs no git command if no ref has changed. */
  async #position(): Promise<KnownPosition> {
    const { history, ref: fixed, pendingRef, path } = this.#parts;
    const last = this.#known;
    // Read before the refs: a change in between leads to another look next time.
    const state = last && (await history.refState(last.position.ref, pendingRef));
    if (state !== undefined && state === last?.state) return last.position;
    const refs = await history.refs(fixed ?? "refs/heads", pendingRef);
    const ref = fixed ?? refs.get("*") ?? (await unbornBranch(history, path));
    const position = { ref, head: refs.get(ref), pending: refs.get(pendingRef) };
    this.#known = { position, state: ref === last?.position.ref ? state : undefined };
    return position;
  }

  /** Working files that differ from the last commit were written by people. */
  async #recordHand({ ref, head }: HistoryPosition): Promise<HistoryPosition & { head: string }> {
    const { files, history } = this.#parts;
    const tree = await history.tree(head);
    const changes = new Map<string, Uint8Array | null>();
    const stamps = await files.stamps();
    await inParallel([...stamps], AT_ONCE, async ([path, stamp]) => {
      const known = this.#blobs.get(path);
      if (stamp !== undefined && known?.stamp === stamp && known.blob === tree.get(path)) return;
      const bytes = await files.readBytes(path).catch(ignoreTooLarge);
      if (bytes === undefined) return;
      const blob = history.hash(bytes);
      if (stamp !== undefined) this.#blobs.set(path, { stamp, blob });
      if (tree.get(path) !== blob) changes.set(path, bytes);
    });
    for (const path of this.#blobs.keys()) if (!stamps.has(path)) this.#blobs.delete(path);
    for (const path of tree.keys()) if (isContextPath(path) && !stamps.has(path)) changes.set(path, null);
    if (changes.size === 0 && head !== undefined) return { ref, head };
    // The initial commit of an untouched context is ours.
    const isNew = head === undefined && [...changes.keys()].every((path) => path === CONTEXT_FILE);
    const details = isNew
      ? { message: "Begin the context\n", author: TANDEM, committer: TANDEM }
      : { message: "Edited by hand\n", author: BY_HAND, committer: TANDEM };
    return this.#commit({ ref, head }, changes, details);
  }

  async #commit(
    place: HistoryPosition,
    changes: Contents,
    details: CommitDetails,
  ): Promise<HistoryPosition & { head: string }> {
    const { history, pendingRef } = this.#parts;
    // Write-ahead: from here on the commit in `pendingRef` will be completed, by us or by the next process after a
    // crash.
    const pending = await history.commit(pendingRef, place.head, changes, details);
    return this.#finish(place, pending, place.head, changes);
  }

  /** Completes the commit of a crashed process. */
  async #resume(place: HistoryPosition, pending: string): Promise<HistoryPosition> {
    const { history } = this.#parts;
    const parent = await history.resolve(`${pending}^`);
    const after = await history.tree(pending);
    const paths = differing(await history.tree(parent), after);
    const blobs = await history.blobs(paths.flatMap((path) => after.get(path) ?? []));
    const changes = new Map(paths.map((path) => [path, blobs.get(after.get(path) ?? "") ?? null]));
    return this.#finish(place, pending, parent, changes);
  }

  /** Writes the files of a commit, then moves the head to it. */
  async #finish(
    place: HistoryPosition,
    pending: string,
    parent: string | undefined,
    changes: Contents,
  ): Promise<HistoryPosition & { head: string }> {
    const { history, files, pendingRef } = this.#parts;
    const [before, after] = [await history.tree(parent), await history.tree(pending)];
    await inParallel([...changes], AT_ONCE, async ([path, content]) => {
      const bytes = await files.readBytes(path);
      // Race: a person saved the file just now. Keep their version; it is committed after ours.
      if ((bytes && history.hash(bytes)) !== before.get(path)) return;
      if (content === null) await files.remove(path);
      else await files.write(path, content);
    });
    if (this.#parts.ref === undefined) await followIndex(history, [...changes.keys()], before, after);
    let { ref, head } = place;
    for (let tries = 1; tries <= TRIES; tries += 1) {
      if (head === pending) {
        await history.drop(pendingRef);
        return { ref, head: pending };
      }
      if (head === parent && (await history.settle(ref, parent, pendingRef, pending))) return { ref, head: pending };
      // Race: a person's commit came in between. Put ours on top.
      ({ ref, head } = await this.#position());
      if (head === pending) continue;
      parent = head;
      pending = await history.commit(pendingRef, head, changes, await history.details(pending));
    }
    throw new RequestError("conflict", "The context's history was changed by others again and again.", {
      fix: "Try again when they are done.",
    });
  }
}

/** The target ref and its current commit. */
interface HistoryPosition {
  ref: string;
  head: string | undefined;
}

interface KnownPosition extends HistoryPosition {
  /** A commit whose files may not be written yet. */
  pending: string | undefined;
}

/** Branch of a repository without commits. */
async function unbornBranch(history: GitHistory, path: string): Promise<string> {
  const ref = await history.run(["symbolic-ref", "--quiet", "HEAD"]).catch((cause: unknown) => {
    throw new RequestError("conflict", `The context's repository in ${path} has no branch checked out.`, {
      fix: "Check out a branch there, for example with `git switch main`.",
      cause,
    });
  });
  return ref.trim();
}

/** Paths of ours that differ between two trees. */
function differing(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => isContextPath(path) && before.get(path) !== after.get(path));
}

function formatMessage({ subject, body, trailers = {} }: CommitMessage): string {
  const lines = Object.entries(trailers).map(([key, value]) => `${key}: ${value.replaceAll(/\s+/g, " ").trim()}`);
  const parts = [subject.replaceAll(/\s+/g, " ").trim(), body?.trim() ?? "", lines.join("\n")];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

const changedMeanwhile = (path: string): RequestError =>
  new RequestError("conflict", `${path} was changed in the meantime.`, { fix: "Review it again." });

/** A too large file stays on disk and out of the history. */
function ignoreTooLarge(error: unknown): undefined {
  if (error instanceof RequestError && error.code === "too_large") return undefined;
  throw error;
}
