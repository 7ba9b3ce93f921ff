import { git, GitFailed, runGit } from "@tandem/workspace";
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** Cache size; commits are immutable. */
const KEPT_TREES = 8;

/** Enough for a large catalogue. */
const MAX_BYTES = 512 * 1_024 * 1_024;

export interface Author {
  name: string;
  email: string;
}

/** Committer of our commits, for any author. */
export const TANDEM: Author = { name: "Tandem", email: "tandem@localhost" };

export interface CommitDetails {
  message: string;
  author: Author;
  committer: Author;
}

/** File contents by path; null removes. */
export type Contents = ReadonlyMap<string, Uint8Array | null>;

/**
 * One linear history in a git repository. Commits are built from their parent and the changes, without index or work
 * tree, and a ref moves only by compare-and-swap.
 */
export class GitHistory {
  readonly #gitDir: string;
  readonly #algorithm: string;
  readonly #trees = new Map<string, ReadonlyMap<string, string>>();

  /** `algorithm` is the repository's object format. */
  constructor(gitDir: string, algorithm: string) {
    this.#gitDir = gitDir;
    this.#algorithm = algorithm;
  }

  run(args: readonly string[], input?: string | Uint8Array): Promise<string> {
    return git(this.#gitDir, ["--git-dir", this.#gitDir, ...args], { input, maxBytes: MAX_BYTES });
  }

  /** git's blob id of the content. */
  hash(content: Uint8Array): string {
    return createHash(this.#algorithm).update(`blob ${content.byteLength}\0`).update(content).digest("hex");
  }

  async resolve(name: string): Promise<string | undefined> {
    const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`];
    const { exitCode, stdout } = await runGit(this.#gitDir, ["--git-dir", this.#gitDir, ...args]);
    return exitCode === 0 ? stdout.toString("utf8").trim() : undefined;
  }

  /** Ref names and commits; `*` marks the checked-out branch, if it has a commit. */
  async refs(...patterns: string[]): Promise<Map<string, string>> {
    const output = await this.run(["for-each-ref", "--format=%(HEAD)%(refname) %(objectname)", ...patterns]);
    return new Map(
      output.split("\n").flatMap((line): [string, string][] => {
        const [, mark, name = "", commit = ""] = /^([* ])(\S+) (\S+)$/.exec(line) ?? [];
        if (mark === undefined) return [];
        return mark === "*"
          ? [
              [name, commit],
              ["*", name],
            ]
          : [[name, commit]];
      }),
    );
  }

  /**
   * A text that changes with `HEAD` and with these refs, read without a git process. Undefined if that is impossible: a
   * linked worktree keeps its refs elsewhere, and a symbolic ref changes with its target.
   */
  async refState(...refs: readonly string[]): Promise<string | undefined> {
    const [shared, ...texts] = await Promise.all(
      ["commondir", "HEAD", "reftable/tables.list", ...refs].map((name) => this.#fileText(name)),
    );
    if (shared !== "" || texts.slice(2).some((text) => text.startsWith("ref:"))) return undefined;
    const packed = await stat(join(this.#gitDir, "packed-refs"), { bigint: true }).catch(() => undefined);
    return [...texts, packed && `${packed.ino} ${packed.size} ${packed.mtimeNs} ${packed.ctimeNs}`].join("\0");
  }

  /** Empty if there is no such file. */
  async #fileText(name: string): Promise<string> {
    return readFile(join(this.#gitDir, name), "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return "";
      throw error;
    });
  }

  /** Blob ids of regular files in a commit, by path. */
  async tree(commit: string | undefined): Promise<ReadonlyMap<string, string>> {
    const files = new Map<string, string>();
    if (commit === undefined) return files;
    const known = this.#trees.get(commit);
    if (known) return known;
    for (const entry of (await this.run(["ls-tree", "-r", "-z", "--full-tree", commit])).split("\0")) {
      const [, mode, blob, path] = /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(entry) ?? [];
      // Links are ignored.
      if (mode?.startsWith("100") && blob !== undefined && path !== undefined) files.set(path, blob);
    }
    return this.#keep(commit, files);
  }

  #keep(commit: string, tree: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
    this.#trees.set(commit, tree);
    for (const old of this.#trees.keys()) {
      if (this.#trees.size <= KEPT_TREES) break;
      this.#trees.delete(old);
    }
    return tree;
  }

  async blobs(wanted: readonly string[]): Promise<Map<string, Buffer>> {
    const names = [...new Set(wanted)];
    const contents = new Map<string, Buffer>();
    if (names.length === 0) return contents;
    const args = ["--git-dir", this.#gitDir, "cat-file", "--batch"];
    const { stdout } = await runGit(this.#gitDir, args, { input: `${names.join("\n")}\n`, maxBytes: MAX_BYTES });
    for (let at = 0; at < stdout.length;) {
      const end = stdout.indexOf(0x0a, at);
      const [name = "", type, size] = stdout.toString("utf8", at, end).split(" ");
      if (type !== "blob") throw new Error(`The git history has no file content ${name}.`);
      contents.set(name, stdout.subarray(end + 1, end + 1 + Number(size)));
      at = end + 1 + Number(size) + 1;
    }
    return contents;
  }

  /** Creates a commit from a parent and changes, and points `ref` to it. */
  async commit(
    ref: string,
    parent: string | undefined,
    changes: Contents,
    { message, author, committer }: CommitDetails,
  ): Promise<string> {
    const now = `${Math.floor(Date.now() / 1_000)} +0000`;
    const parts: Uint8Array[] = [];
    const text = (line: string) => parts.push(Buffer.from(line));
    const data = (content: Uint8Array) => {
      text(`data ${content.byteLength}\n`);
      parts.push(content);
      text("\n");
    };
    text(`feature done\nreset ${ref}\n${parent === undefined ? "" : `from ${parent}\n`}\ncommit ${ref}\n`);
    text(`mark :1\nauthor ${person(author)} ${now}\ncommitter ${person(committer)} ${now}\n`);
    data(Buffer.from(message));
    if (parent !== undefined) text(`from ${parent}\n`);
    for (const [path, content] of changes) {
      // Our paths contain no line ends, but a leading quote needs escaping.
      const name = path.startsWith('"') ? `"${path.replaceAll(/["\\]/g, "\\$&")}"` : path;
      if (content === null) {
        text(`D ${name}\n`);
      } else {
        text(`M 100644 inline ${name}\n`);
        data(content);
      }
    }
    text("\nget-mark :1\ndone\n");
    const made = (await this.run(["fast-import", "--quiet", "--force"], Buffer.concat(parts))).trim();
    const tree = new Map(await this.tree(parent));
    for (const [path, content] of changes) {
      if (content === null) tree.delete(path);
      else tree.set(path, this.hash(content));
    }
    this.#keep(made, tree);
    return made;
  }

  async details(commit: string): Promise<CommitDetails> {
    const output = await this.run(["log", "-1", "--format=%an%x00%ae%x00%cn%x00%ce%x00%B", commit]);
    const [name = "", email = "", committer = "", committerEmail = "", message = ""] = output.split("\0");
    return { message, author: { name, email }, committer: { name: committer, email: committerEmail } };
  }

  /** Moves `ref` to `pendingRef` and deletes that; false if `ref` has moved (compare-and-swap). */
  async settle(ref: string, from: string | undefined, pendingRef: string, pending: string): Promise<boolean> {
    const old = from ?? "0".repeat(pending.length);
    const commands = [
      "start",
      `update ${ref} ${pending} ${old}`,
      `delete ${pendingRef} ${pending}`,
      "prepare",
      "commit",
    ];
    try {
      await this.run(["update-ref", "-m", "tandem", "--stdin"], `${commands.join("\n")}\n`);
      return true;
    } catch (error) {
      if (error instanceof GitFailed && (await this.resolve(ref)) !== from) return false;
      throw error;
    }
  }

  async drop(ref: string): Promise<void> {
    await this.run(["update-ref", "-d", "--end-of-options", ref]);
  }
}

const person = ({ name, email }: Author): string => `${plain(name)} <${plain(email)}>`;
const plain = (text: string): string => text.replaceAll(/[<>\p{Cc}]/gu, " ").trim() || "unknown";
