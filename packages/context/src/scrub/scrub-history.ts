import { RequestError } from "@tandem/protocol";
import { runGit } from "@tandem/workspace";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { finishRewrite, writeJournal } from "../folder/finish-rewrite.ts";
import { ownRepository } from "../folder/find-repository.ts";
import {
  gitBytes,
  type HistoryPlan,
  planHistory,
  readBlobs,
  writeBundle,
  writeHistory,
} from "../folder/rewrite-history.ts";
import { type ScrubRule, scrubTable } from "./scrub-table.ts";

/** Refs of git or ours that hold no files of the context. */
const UNTOUCHED = /^refs\/(notes|bisect|worktree)\//;

interface Ref {
  name: string;
  type: string;
  object: string;
  /** The commit that an annotated tag points to. */
  peeled: string;
}

/** The history of a context's own repository, with and without the values that may not be stored. */
export class ScrubbedHistory {
  readonly #gitDir: string;
  readonly #rule: ScrubRule;
  readonly #refs: readonly Ref[];
  readonly remotes: readonly string[];

  private constructor(gitDir: string, rule: ScrubRule, refs: readonly Ref[], remotes: readonly string[]) {
    this.#gitDir = gitDir;
    this.#rule = rule;
    this.#refs = refs;
    this.remotes = remotes;
  }

  /** Refuses a repository in which old values would stay, or work would be lost. */
  static async open(path: string, rule: ScrubRule, { force }: { force: boolean }): Promise<ScrubbedHistory> {
    const { gitDir } = await ownRepository(path);
    const listed = await gitBytes(gitDir, [
      "for-each-ref",
      "--format=%(refname) %(objecttype) %(objectname) %(*objectname)",
    ]);
    const refs = listed
      .split("\n")
      .filter(Boolean)
      .map((line): Ref => {
        const [name = "", type = "", object = "", peeled = ""] = line.split(" ");
        return { name, type, object, peeled };
      });
    const remotes = (await gitBytes(gitDir, ["remote"])).split("\n").filter(Boolean);
    if (remotes.length > 0 && !force) {
      throw refused(
        `The context's repository has the remote ${remotes.join(", ")}: other copies of its history may exist.`,
        "Add --force. Afterwards run `git push --force` there, and let others clone it again.",
      );
    }
    if (refs.some(({ name }) => name === "refs/stash"))
      throw refused(
        "The context's repository has stashed changes.",
        `Run \`git -C ${path} stash pop\` or \`stash drop\` first.`,
      );
    const worktrees = (await gitBytes(gitDir, ["worktree", "list", "--porcelain"])).match(/^worktree /gm) ?? [];
    if (worktrees.length > 1)
      throw refused(
        "The context's repository has linked worktrees.",
        `Remove them first: git -C ${path} worktree list`,
      );
    if ((await gitBytes(gitDir, ["rev-parse", "--is-shallow-repository"])).trim() === "true")
      throw refused(
        "The context's repository is a shallow clone.",
        `Complete it first: git -C ${path} fetch --unshallow`,
      );
    const staged = await runGit(path, ["diff-index", "--cached", "--quiet", "HEAD", "--"]);
    if (staged.exitCode !== 0)
      throw refused(
        "The context's repository has staged changes.",
        `Commit or unstage them first: git -C ${path} status`,
      );
    return new ScrubbedHistory(gitDir, rule, refs, remotes);
  }

  plan(): Promise<HistoryPlan> {
    const names = this.#rewritten().map(({ name }) => name);
    return planHistory(this.#gitDir, names, (_path, text) => scrubTable(text, this.#rule).text);
  }

  #rewritten(): Ref[] {
    const hasCommits = ({ name, type, peeled }: Ref) =>
      type === "commit" || (type === "tag" && peeled !== "" && name !== "");
    return this.#refs.filter(
      (ref) => hasCommits(ref) && !UNTOUCHED.test(ref.name) && !ref.name.startsWith("refs/remotes/"),
    );
  }

  /** Returns the file. It contains the old values. */
  async backUp(folder: string, name: string): Promise<string> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, name);
    await writeBundle(this.#gitDir, file);
    return file;
  }

  /**
   * Rewrites all branches and tags. A kill before the journal leaves the old history, one after it the new history; the next
   * process that opens the context then deletes the old objects. `onRenamed` runs in between.
   */
  async rewrite(onRenamed: (renamed: ReadonlyMap<string, string>) => Promise<void>): Promise<void> {
    const plan = await this.plan();
    const renamed = plan.changed === 0 ? new Map<string, string>() : await writeHistory(this.#gitDir, plan);
    const updates: { ref: string; from: string; to: string | null }[] = [];
    for (const ref of this.#refs) {
      // Remote-tracking refs keep the old commits; a fetch brings the remote's state back.
      if (ref.name.startsWith("refs/remotes/")) updates.push({ ref: ref.name, from: ref.object, to: null });
      else if (this.#rewritten().includes(ref))
        updates.push({ ref: ref.name, from: ref.object, to: await this.#newObject(ref, renamed) });
    }
    await this.#requireSameFiles(renamed);
    await writeJournal(this.#gitDir, { updates: updates.filter(({ from, to }) => from !== to) });
    await onRenamed(renamed);
    await finishRewrite(this.#gitDir);
  }

  async #newObject({ type, object, peeled }: Ref, renamed: ReadonlyMap<string, string>): Promise<string> {
    if (type === "commit") return renamed.get(object) ?? object;
    const commit = renamed.get(peeled) ?? peeled;
    const raw = await gitBytes(this.#gitDir, ["cat-file", "tag", object]);
    const unsigned = raw.replace(/-----BEGIN [A-Z ]*SIGNATURE-----[^]*$/, "");
    return (await gitBytes(this.#gitDir, ["mktag"], unsigned.replace(/^object .*$/m, `object ${commit}`))).trim();
  }

  /** The files were scrubbed before, so the checked-out state must not change: nothing updates the working files. */
  async #requireSameFiles(renamed: ReadonlyMap<string, string>): Promise<void> {
    const treeOf = async (name: string) => (await gitBytes(this.#gitDir, ["rev-parse", `${name}^{tree}`])).trim();
    const head = (await gitBytes(this.#gitDir, ["rev-parse", "HEAD"])).trim();
    if ((await treeOf(head)) !== (await treeOf(renamed.get(head) ?? head)))
      throw new RequestError("conflict", "A file of the catalogue was changed in the meantime.", {
        fix: "Run it again.",
      });
  }

  /** Number of objects, and of those that still contain values that may not be stored. */
  async verify(): Promise<{ objects: number; left: number }> {
    const args = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"];
    const all = (await gitBytes(this.#gitDir, args)).split("\n").filter(Boolean);
    const blobs = all.filter((line) => line.endsWith(" blob")).map((line) => line.split(" ")[0]!);
    let left = 0;
    for await (const [, content] of readBlobs(this.#gitDir, blobs)) {
      if (!content.subarray(0, 4_096).includes("connection:")) continue;
      const text = content.toString("utf8");
      if (scrubTable(text, this.#rule).text !== text) left += 1;
    }
    return { objects: all.length, left };
  }
}

const refused = (message: string, fix: string): RequestError => new RequestError("conflict", message, { fix });
