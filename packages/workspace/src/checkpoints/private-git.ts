import { randomUUID } from "node:crypto";
import { chmod, link, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RequestError } from "@tandem/protocol";
import { GitFailed, runGit, type GitOptions, type GitOutcome } from "../git/git.ts";
import { giveTree, type Owner } from "../give-tree.ts";
import { EXCLUDED_FOLDERS } from "./excluded-folders.ts";

/** A private index older than this was left behind by a dead process. */
const LEFT_BEHIND_MS = 60 * 60 * 1_000;

/**
 * Stores files byte for byte, whatever the folder's `.gitattributes` say: no line-end conversion, no filters, and
 * nothing hidden from a diff. This file takes precedence over all others.
 */
const ATTRIBUTES = "* -text -eol -crlf -ident -filter -working-tree-encoding !diff !merge\n";

const EXCLUDED = [...EXCLUDED_FOLDERS].map((name) => `${name}/\n`).join("");

/** Written last, to mark a complete repository. Change the name when its contents change. */
const MADE = "tandem-checkpoints-2";

const SETTINGS = {
  "user.name": "Tandem",
  "user.email": "tandem@localhost",
  "core.bare": "false",
  "core.quotePath": "false",
  "core.autocrlf": "false",
  // Speed over size: objects are packed later.
  "core.looseCompression": "1",
  // One flush for all objects of a checkpoint.
  "core.fsync": "objects,reference",
  "core.fsyncMethod": "batch",
  "diff.renameLimit": "1000",
} as const;

export interface RunOptions extends Pick<GitOptions, "input" | "maxBytes" | "signal"> {
  /** Deadline, by the monotonic clock. */
  until?: number;
  index?: string;
  /** Writes new objects into one pack: much faster and smaller for many files. */
  packs?: boolean;
}

/** A private git repository for a folder; the folder's own repository is not touched. */
export class PrivateGit {
  readonly folder: string;
  readonly #gitDir: string;
  readonly #user: Owner | undefined;
  #making: Promise<void> | undefined;

  /** `user` runs git, and owns the repository. */
  constructor(gitDir: string, folder: string, user?: Owner) {
    this.#gitDir = gitDir;
    this.folder = folder;
    this.#user = user;
  }

  /** The same objects with another folder. */
  over(folder: string): PrivateGit {
    return new PrivateGit(this.#gitDir, folder, this.#user);
  }

  async text(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const outcome = await this.run(args, options);
    if (outcome.exitCode !== 0) throw new GitFailed(args, outcome);
    return outcome.stdout.toString("utf8");
  }

  /** Stores a tree under a new ref, with a message. One process does both. */
  async commit(ref: string, tree: string, message: string, options: RunOptions): Promise<void> {
    const seconds = Math.floor(Date.now() / 1_000);
    const who = `${SETTINGS["user.name"]} <${SETTINGS["user.email"]}> ${seconds} +0000`;
    const data = `data ${Buffer.byteLength(message)}\n${message}`;
    const input = `commit ${ref}\ncommitter ${who}\n${data}\nM 040000 ${tree} ""\n`;
    await this.text(["fast-import", "--quiet"], { ...options, input });
  }

  async run(
    args: readonly string[],
    { until, index, packs = false, ...options }: RunOptions = {},
  ): Promise<GitOutcome> {
    await this.#ready();
    const timeoutMs = until === undefined ? undefined : Math.max(1, until - performance.now());
    return runGit(this.folder, [`--git-dir=${this.#gitDir}`, `--work-tree=${this.folder}`, ...args], {
      ...options,
      user: this.#user,
      // Files over the threshold are streamed into a pack.
      settings: packs ? { ...SETTINGS, "core.bigFileThreshold": "1" } : SETTINGS,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(index !== undefined && { indexFile: index }),
    });
  }

  /**
   * Works on a private copy of the index, so that processes do not block each other and a crash leaves no lock. With
   * `keep`, the copy replaces the index, whose cached times and sizes speed up the next scan.
   */
  async withIndex<T>(kind: "current" | "empty", work: (index: string) => Promise<T>, keep = false): Promise<T> {
    await this.#ready();
    const current = join(this.#gitDir, "index");
    const index = join(this.#gitDir, "indexes", randomUUID());
    // A hard link, not a copy: git trusts cached times only if they are older than the index file.
    if (kind === "current") await link(current, index).catch(ignoreMissing);
    try {
      const done = await work(index);
      if (keep) await rename(index, current).catch(ignoreMissing);
      return done;
    } finally {
      await rm(index, { force: true });
      await rm(`${index}.lock`, { force: true });
    }
  }

  /** Drops the cached file states; the next scan reads all files. */
  async forgetIndex(): Promise<void> {
    await rm(join(this.#gitDir, "index"), { force: true });
  }

  async sweep(): Promise<void> {
    const folder = join(this.#gitDir, "indexes");
    for (const name of await readdir(folder).catch(() => [])) {
      const found = await stat(join(folder, name)).catch(() => undefined);
      if (found && Date.now() - found.ctimeMs > LEFT_BEHIND_MS) await rm(join(folder, name), { force: true });
    }
  }

  /** Checked each time: another process may have pruned an unused repository. */
  async #ready(): Promise<void> {
    if (await stat(join(this.#gitDir, MADE)).catch(() => undefined)) return;
    await (this.#making ??= this.#make().finally(() => (this.#making = undefined)));
  }

  async #make(): Promise<void> {
    try {
      await mkdir(join(this.#gitDir, "indexes"), { recursive: true, mode: 0o700 });
      // Checkpoints hold copies of private files. git reads this setting from the repository only.
      const init = ["init", "--quiet", "--bare", "--template=", "--shared=0600", this.#gitDir];
      const outcome = await runGit(this.#gitDir, init);
      if (outcome.exitCode !== 0) throw new GitFailed(["init"], outcome);
      await mkdir(join(this.#gitDir, "info"), { recursive: true });
      await writeFile(join(this.#gitDir, "info", "attributes"), ATTRIBUTES);
      await writeFile(join(this.#gitDir, "info", "exclude"), EXCLUDED);
      await closeToOthers(this.#gitDir);
      if (this.#user) await giveTree(this.#gitDir, this.#user);
      await writeFile(join(this.#gitDir, MADE), "", { mode: 0o600 });
    } catch (cause) {
      if (cause instanceof RequestError) throw cause;
      throw new RequestError("unavailable", `Checkpoints cannot be kept in ${this.#gitDir}: ${String(cause)}`, {
        cause,
      });
    }
  }
}

/** Also closes the files of a repository that an earlier version made. */
async function closeToOthers(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await closeToOthers(path);
    // Objects are read-only.
    else if (entry.isFile()) await chmod(path, (await stat(path)).mode & 0o600).catch(ignoreMissing);
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
