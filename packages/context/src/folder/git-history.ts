import { git, GitFailed, runGit } from "@tandem/workspace";
import { createHash } from "node:crypto";

/** A large catalogue, whole. */
const MAX_BYTES = 512 * 1_024 * 1_024;

export interface Author {
  name: string;
  email: string;
}

export interface CommitDetails {
  message: string;
  author: Author;
  committer: Author;
}

/** Content of files by their paths; null removes. */
export type Contents = ReadonlyMap<string, Uint8Array | null>;

/**
 * One line of history in a git repository, of which nothing else is touched: commits are made out of their parent and what
 * changes, without an index or a work tree, and a ref moves only from where it was thought to be.
 */
export class GitHistory {
  readonly #gitDir: string;
  readonly #algorithm: string;

  private constructor(gitDir: string, algorithm: string) {
    this.#gitDir = gitDir;
    this.#algorithm = algorithm;
  }

  static async open(gitDir: string): Promise<GitHistory> {
    const format = await git(gitDir, ["--git-dir", gitDir, "rev-parse", "--show-object-format"]);
    return new GitHistory(gitDir, format.trim());
  }

  run(args: readonly string[], input?: string | Uint8Array): Promise<string> {
    return git(this.#gitDir, ["--git-dir", this.#gitDir, ...args], { input, maxBytes: MAX_BYTES });
  }

  /** What a blob of this content is called. */
  hash(content: Uint8Array): string {
    return createHash(this.#algorithm).update(`blob ${content.byteLength}\0`).update(content).digest("hex");
  }

  async resolve(ref: string): Promise<string | undefined> {
    const { exitCode, stdout } = await runGit(this.#gitDir, [
      ...["--git-dir", this.#gitDir, "rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`],
    ]);
    return exitCode === 0 ? stdout.toString("utf8").trim() : undefined;
  }

  /** Names of the blobs of plain files in a commit, by path. */
  async tree(commit: string | undefined): Promise<Map<string, string>> {
    const files = new Map<string, string>();
    if (commit === undefined) return files;
    for (const entry of (await this.run(["ls-tree", "-r", "-z", "--full-tree", commit])).split("\0")) {
      const [, mode, blob, path] = /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(entry) ?? [];
      // Links are not ours.
      if (mode?.startsWith("100") && blob !== undefined && path !== undefined) files.set(path, blob);
    }
    return files;
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

  /** A commit of a parent and what changes, on a ref of its own: `ref` is made, or taken from where it was. */
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
    text(`author ${person(author)} ${now}\ncommitter ${person(committer)} ${now}\n`);
    data(Buffer.from(message));
    if (parent !== undefined) text(`from ${parent}\n`);
    for (const [path, content] of changes) {
      // Paths of ours have no line ends; a quote at the beginning would be taken for one.
      const name = path.startsWith('"') ? `"${path.replaceAll(/["\\]/g, "\\$&")}"` : path;
      if (content === null) {
        text(`D ${name}\n`);
      } else {
        text(`M 100644 inline ${name}\n`);
        data(content);
      }
    }
    text("done\n");
    await this.run(["fast-import", "--quiet", "--force"], Buffer.concat(parts));
    const made = await this.resolve(ref);
    if (made === undefined) throw new Error(`git has made no commit on ${ref}.`);
    return made;
  }

  async details(commit: string): Promise<CommitDetails> {
    const output = await this.run(["log", "-1", "--format=%an%x00%ae%x00%cn%x00%ce%x00%B", commit]);
    const [name = "", email = "", committer = "", committerEmail = "", message = ""] = output.split("\0");
    return { message, author: { name, email }, committer: { name: committer, email: committerEmail } };
  }

  /** Moves `ref` to a commit; false if it is not where it was thought to be. */
  async move(ref: string, to: string, from: string | undefined): Promise<boolean> {
    const old = from ?? "0".repeat(to.length);
    try {
      await this.run(["update-ref", "-m", "tandem", "--end-of-options", ref, to, old]);
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
