import { stat } from "node:fs/promises";
import { newId, RequestError, type TreeDiff } from "@tandem/protocol";
import { z } from "zod";
import { GitFailed } from "../git/git.ts";
import { changedPaths, type PathChange } from "./changed-paths.ts";
import { diffTrees, type DiffOptions } from "./diff-trees.ts";
import type { PrivateGit, RunOptions } from "./private-git.ts";
import { folderSignature } from "./folder-signature.ts";
import { refuseLoss } from "./refuse-loss.ts";
import { readFolder, type FolderLimits } from "./read-folder.ts";

/** A slower scan of the folder would block the session that works in it. */
const TAKE_MS = 60_000;
const READ_MS = 30_000;
const RESTORE_MS = 300_000;
const MAX_LIST_BYTES = 64 * 1024 * 1024;
const MAX_CONTENT_BYTES = 128 * 1024 * 1024;
const LISTED = 1_000;
const MANY = 200;
const REFS = "refs/checkpoints";
const OWNER = /^[0-9A-Za-z_-]{1,80}$/;
const ID = /^ckpt_[0-9A-Za-z]{1,64}$/;

/** Snapshot of a folder's files. */
export interface Checkpoint {
  id: string;
  /** Id of the owner. */
  owner: string;
  /** The owner's description. */
  label: string;
  tree: string;
  at: string;
  /** Skipped files (at most 1,000 names) and their number. */
  skipped: string[];
  skippedCount: number;
  /** Nested git repositories, which are left alone. */
  nested: string[];
  /** HEAD of the folder's own repository. */
  head: string | null;
}

type Seen = Omit<Checkpoint, "id" | "owner" | "at" | "label">;

const note = z.object({
  label: z.string(),
  at: z.string(),
  skipped: z.array(z.string()),
  skippedCount: z.int(),
  nested: z.array(z.string()),
  head: z.string().nullable(),
});

/**
 * Checkpoints of one folder as trees in a private git repository, so that git compares and restores them, with
 * deletions, links and modes. Works with and without git in the folder; the folder's own repository is never written.
 */
export class CheckpointStore {
  readonly #git: PrivateGit;
  readonly #limits: FolderLimits;
  /** The tree last written, and the state of the index at that time. */
  #written: { state: string; tree: string } | undefined;
  /** The last checkpoint's view of the folder, with the folder's signature at that time. */
  #last: { signature: string; seen: Seen } | undefined;

  constructor(git: PrivateGit, limits: FolderLimits) {
    this.#git = git;
    this.#limits = limits;
  }

  get folder(): string {
    return this.#git.folder;
  }

  /** Takes a checkpoint of the folder's current state. */
  async take(owner: string, label: string, signal?: AbortSignal): Promise<Checkpoint> {
    const options = { until: performance.now() + TAKE_MS, ...(signal && { signal }) };
    return this.#healing(async () => this.#keep(owner, { ...(await this.#look(options)), label }, options));
  }

  /** Reads the folder with git only if it may have changed: most turns change nothing, and starting git costs the most. */
  async #look(options: RunOptions): Promise<Seen> {
    const signature = await folderSignature(this.folder);
    if (signature !== undefined && this.#last?.signature === signature) return this.#last.seen;
    const seen = await this.#git.withIndex("current", (index) => this.#read(index, options), true);
    this.#last = signature === undefined ? undefined : { signature, seen };
    return seen;
  }

  /** Undefined if it was pruned. */
  async find(owner: string, id: string): Promise<Checkpoint | undefined> {
    if (!OWNER.test(owner) || !ID.test(id)) return undefined;
    return (await this.#list(`${REFS}/${owner}/${id}`))[0];
  }

  /** In the order they were taken; of all owners by default. */
  async list(owner?: string): Promise<Checkpoint[]> {
    if (owner !== undefined && !OWNER.test(owner)) return [];
    return this.#list(owner === undefined ? REFS : `${REFS}/${owner}`);
  }

  /** Differing paths. Paths that either checkpoint has skipped are excluded. */
  async changes(from: Checkpoint, to: Checkpoint): Promise<PathChange[]> {
    const unknown = new Set([...from.skipped, ...to.skipped]);
    const changes = await changedPaths(this.#git, from.tree, to.tree, { until: performance.now() + READ_MS });
    return changes.filter(({ path }) => !unknown.has(path));
  }

  diff(from: Checkpoint, to: Checkpoint, options: DiffOptions): Promise<TreeDiff> {
    return diffTrees(this.#git, from, to, { ...options, until: performance.now() + READ_MS });
  }

  /**
   * Restores paths to their state in `target`, and returns the resulting checkpoint. Nothing is changed if something is
   * in the way. The paths must still be as in `present`; otherwise it rejects with `conflict`. If interrupted, some
   * paths are restored; call it again.
   */
  async restore(
    owner: string,
    label: string,
    { present, target, paths }: { present: Checkpoint; target: Checkpoint; paths: ReadonlySet<string> },
  ): Promise<Checkpoint> {
    const options = { until: performance.now() + RESTORE_MS };
    const wanted = (await this.changes(present, target)).filter(({ path }) => paths.has(path));
    const result = await this.#git.withIndex(
      "current",
      async (index) => {
        const now = await this.#read(index, options);
        const moved = await changedPaths(this.#git, present.tree, now.tree, options);
        const other = moved.find(({ path }) => wanted.some((change) => change.path === path));
        if (other) throw movedMeanwhile(other.path);
        await refuseLoss(this.folder, wanted);
        const goal = await this.#compose(now.tree, wanted, options);
        await this.#writeOut(index, now.tree, goal, options);
        return { ...now, tree: goal };
      },
      true,
    );
    return this.#keep(owner, { ...result, label }, options);
  }

  /** Writes a checkpoint's files to another folder. Paths that neither side has kept stay unchanged. */
  async writeTo(folder: string, { tree, skipped }: Pick<Checkpoint, "tree" | "skipped">): Promise<void> {
    const options = { until: performance.now() + RESTORE_MS };
    const there = new CheckpointStore(this.#git.over(folder), this.#limits);
    await there.#git.withIndex("empty", async (index) => {
      const now = await there.#read(index, options);
      const left = new Set([...skipped, ...now.skipped]);
      const wanted = (await changedPaths(there.#git, now.tree, tree, options)).filter(({ path }) => !left.has(path));
      await refuseLoss(folder, wanted);
      await there.#writeOut(index, now.tree, await there.#compose(now.tree, wanted, options), options);
    });
  }

  /** The files of a checkpoint and the objects that hold them. Links are files, too. */
  async files({ tree }: Checkpoint): Promise<{ mode: string; blob: string; bytes: number; path: string }[]> {
    const options = { until: performance.now() + READ_MS, maxBytes: MAX_LIST_BYTES };
    const listed = await this.#git.text(["ls-tree", "-r", "-l", "-z", tree], options);
    return listed.split("\0").flatMap((line) => {
      const [, mode, blob, bytes, path] = /^(\d+) blob ([0-9a-f]+) +(\d+)\t(.+)$/s.exec(line) ?? [];
      return mode && blob && path ? [{ mode, blob, bytes: Number(bytes), path }] : [];
    });
  }

  /** The contents of objects. */
  async contents(blobs: readonly string[]): Promise<Map<string, Buffer>> {
    const input = blobs.map((blob) => `${blob}\n`).join("");
    const args = ["cat-file", "--batch"];
    const outcome = await this.#git.run(args, {
      input,
      until: performance.now() + READ_MS,
      maxBytes: MAX_CONTENT_BYTES,
    });
    if (outcome.exitCode !== 0) throw new GitFailed(args, outcome);
    const contents = new Map<string, Buffer>();
    for (let at = 0; at < outcome.stdout.length;) {
      const end = outcome.stdout.indexOf("\n", at);
      const [blob = "", , size = "0"] = outcome.stdout.toString("utf8", at, end).split(" ");
      contents.set(blob, outcome.stdout.subarray(end + 1, end + 1 + Number(size)));
      at = end + Number(size) + 2;
    }
    return contents;
  }

  async drop(checkpoints: readonly Checkpoint[]): Promise<void> {
    if (checkpoints.length === 0) return;
    const input = checkpoints.map(({ owner, id }) => `delete ${REFS}/${owner}/${id}\n`).join("");
    await this.#git.text(["update-ref", "--stdin"], { input });
  }

  /** Garbage-collects and packs objects. Objects of a checkpoint being taken right now are safe. */
  async collect(): Promise<void> {
    await this.#git.sweep();
    await this.#git.text(["gc", "--quiet", "--prune=2.hours.ago"], { until: performance.now() + RESTORE_MS });
  }

  /** Size on disk and number of loose objects. */
  async size(): Promise<{ bytes: number; loose: number }> {
    const counted = await this.#git.text(["count-objects", "-v"]);
    const of = (key: string): number => Number(new RegExp(`^${key}: (\\d+)$`, "m").exec(counted)?.[1] ?? 0);
    return { bytes: (of("size") + of("size-pack")) * 1024, loose: of("count") };
  }

  /** Updates an index from the folder and writes its tree. */
  async #read(index: string, options: RunOptions): Promise<Seen> {
    const { candidates, skipped, nested, head } = await readFolder(this.#git, index, this.#limits, options);
    const own = { ...options, index };
    if (candidates.length > 0) {
      const args = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
      const packs = candidates.length > MANY;
      await this.#git.text(args, { ...own, packs, input: asList(candidates) });
    }
    if (skipped.length > 0) {
      // A file that has grown beyond the limit must not keep its old content.
      await this.#git.text(["update-index", "-z", "--force-remove", "--stdin"], { ...own, input: asList(skipped) });
    }
    const tree = await this.#writeTree(index, own);
    return { tree, skipped: skipped.slice(0, LISTED), skippedCount: skipped.length, nested, head };
  }

  /** An unchanged index, as before most turns, has the same tree. */
  async #writeTree(index: string, options: RunOptions): Promise<string> {
    const state = await stateOf(index);
    if (state !== undefined && this.#written?.state === state) return this.#written.tree;
    const tree = (await this.#git.text(["write-tree"], options)).trim();
    // git may have written cached trees to the index.
    const after = await stateOf(index);
    this.#written = after === undefined ? undefined : { state: after, tree };
    return tree;
  }

  /** An index that refers to missing objects (after a power failure or a full disk) is rebuilt once. */
  async #healing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof GitFailed)) throw error;
      this.#written = undefined;
      this.#last = undefined;
      await this.#git.forgetIndex();
      return await work();
    }
  }

  async #keep(owner: string, seen: Seen & { label: string }, options: RunOptions): Promise<Checkpoint> {
    if (!OWNER.test(owner)) throw new RequestError("invalid_request", `A checkpoint cannot belong to ${owner}.`);
    const { tree, ...rest } = seen;
    const about = { at: new Date().toISOString(), ...rest };
    const id = newId("checkpoint");
    await this.#git.commit(`${REFS}/${owner}/${id}`, tree, `${JSON.stringify(about)}\n`, options);
    return { id, owner, tree, ...about };
  }

  async #list(refs: string): Promise<Checkpoint[]> {
    const format = "%(refname:lstrip=2)%00%(tree)%00%(contents)%00";
    const listed = await this.#git.text(["for-each-ref", `--format=${format}`, refs], {
      until: performance.now() + READ_MS,
      maxBytes: 256 * 1024 * 1024,
    });
    const fields = listed.split("\0");
    const found: Checkpoint[] = [];
    for (let at = 0; at + 2 < fields.length; at += 3) {
      const [owner = "", id = ""] = fields[at]!.trim().split("/");
      found.push({ id, owner, tree: fields[at + 1]!, ...note.parse(JSON.parse(fields[at + 2]!)) });
    }
    return found.sort((a, b) => (a.at < b.at ? -1 : 1));
  }

  async #compose(base: string, changes: readonly PathChange[], options: RunOptions): Promise<string> {
    if (changes.length === 0) return base;
    // Deletions first: a file may replace a folder, or the reverse.
    const lines = [...changes.filter(({ to }) => !to), ...changes.filter(({ to }) => to)].map(({ path, to }) =>
      to ? `${to.mode} ${to.object}\t${path}` : `0 ${"0".repeat(base.length)}\t${path}`,
    );
    return this.#git.withIndex("empty", async (index) => {
      const own = { ...options, index };
      await this.#git.text(["read-tree", base], own);
      await this.#git.text(["update-index", "-z", "--index-info"], { ...own, input: asList(lines) });
      return (await this.#git.text(["write-tree"], own)).trim();
    });
  }

  /** git checks that the whole update is possible before it writes. */
  async #writeOut(index: string, from: string, to: string, options: RunOptions): Promise<void> {
    if (from === to) return;
    // `read-tree` refuses a file whose times differ from the index, even with unchanged content: after a `touch`, or a
    // folder restored from a backup. The exit code only says that some files differ; `read-tree` names them itself.
    await this.#git.run(["update-index", "-q", "--refresh"], { ...options, index });
    try {
      await this.#git.text(["read-tree", "-m", "-u", from, to], { ...options, index });
    } catch (cause) {
      if (!(cause instanceof GitFailed)) throw cause;
      const [reason = "git says no more"] = cause.stderr.trim().split("\n");
      throw new RequestError("conflict", `Files of ${this.folder} could not be put back: ${reason}`, {
        fix: "Move the files that are in the way elsewhere and try again.",
        cause,
      });
    }
  }
}

/** git replaces an index that it changes. */
const stateOf = (index: string): Promise<string | undefined> =>
  stat(index, { bigint: true }).then(
    ({ ino, size, mtimeNs }) => `${ino} ${size} ${mtimeNs}`,
    () => undefined,
  );

const asList = (items: readonly string[]): string => items.map((item) => `${item}\0`).join("");

const movedMeanwhile = (path: string): RequestError =>
  new RequestError("conflict", `${path} changed while it was read.`, { fix: "Try again." });
