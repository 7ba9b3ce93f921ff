import { randomUUID } from "node:crypto";
import { link, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RequestError } from "@tandem/protocol";
import { GitFailed, runGit, type GitOptions, type GitOutcome } from "../git.ts";

/** A private index that nobody has finished with by then belongs to a process that died. */
const LEFT_BEHIND_MS = 60 * 60 * 1_000;

/**
 * Files are kept byte for byte, whatever the folder's own `.gitattributes` say: no line ends are changed, no filter runs, and
 * nothing can be hidden from a diff. This file goes before all others.
 */
const ATTRIBUTES = "* -text -eol -crlf -ident -filter -working-tree-encoding !diff !merge\n";

/** What no folder needs to have kept, be it under git or not: it is made again by a command, and large. */
const EXCLUDED = `node_modules/
bower_components/
.venv/
__pycache__/
.tox/
.mypy_cache/
.pytest_cache/
.ruff_cache/
.gradle/
.terraform/
.next/
.nuxt/
.turbo/
.parcel-cache/
.cache/
`;

/** There once all the rest is; its name changes with what is made. */
const MADE = "tandem-checkpoints-1";

const SETTINGS = {
  "user.name": "Tandem",
  "user.email": "tandem@localhost",
  "core.bare": "false",
  "core.quotePath": "false",
  "core.autocrlf": "false",
  // Speed before size: objects are packed later.
  "core.looseCompression": "1",
  // One flush for all objects of a checkpoint.
  "core.fsync": "objects,reference",
  "core.fsyncMethod": "batch",
  "diff.renameLimit": "1000",
} as const;

export interface RunOptions extends Pick<GitOptions, "input" | "maxBytes" | "signal"> {
  /** The time at which it must be done. */
  until?: number;
  index?: string;
  /** All that it adds goes into one pack: for many files at once, that takes a fraction of the time and the disk. */
  packs?: boolean;
}

/** A git repository of our own over a folder that is somebody else's: nothing of the folder's own repository is touched. */
export class PrivateGit {
  readonly folder: string;
  readonly #gitDir: string;
  #making: Promise<void> | undefined;

  constructor(gitDir: string, folder: string) {
    this.#gitDir = gitDir;
    this.folder = folder;
  }

  /** The same objects over another folder. */
  over(folder: string): PrivateGit {
    return new PrivateGit(this.#gitDir, folder);
  }

  async text(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const outcome = await this.run(args, options);
    if (outcome.exitCode !== 0) throw new GitFailed(args, outcome);
    return outcome.stdout.toString("utf8");
  }

  async run(
    args: readonly string[],
    { until, index, packs = false, ...options }: RunOptions = {},
  ): Promise<GitOutcome> {
    await this.#ready();
    const timeoutMs = until === undefined ? undefined : Math.max(1, until - Date.now());
    return runGit(this.folder, [`--git-dir=${this.#gitDir}`, `--work-tree=${this.folder}`, ...args], {
      ...options,
      // Files beyond the threshold are packed as they are read.
      settings: packs ? { ...SETTINGS, "core.bigFileThreshold": "1" } : SETTINGS,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(index !== undefined && { indexFile: index }),
    });
  }

  /**
   * Works on a private copy of the index, so that nobody waits for anybody and a process that dies leaves no lock. With
   * `keep`, the copy takes the index's place: its times and sizes are what makes the next look at the folder quick.
   */
  async withIndex<T>(kind: "current" | "empty", work: (index: string) => Promise<T>, keep = false): Promise<T> {
    await this.#ready();
    const current = join(this.#gitDir, "index");
    const index = join(this.#gitDir, "indexes", randomUUID());
    // A link, not a copy: git trusts a file's times only if they are older than those of the index.
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

  /** Forgets what it knows of the folder's files: they are all read again next time. */
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

  /** Looked at each time: another process may have taken away what was not used for long. */
  async #ready(): Promise<void> {
    if (await stat(join(this.#gitDir, MADE)).catch(() => undefined)) return;
    await (this.#making ??= this.#make().finally(() => (this.#making = undefined)));
  }

  async #make(): Promise<void> {
    try {
      await mkdir(join(this.#gitDir, "indexes"), { recursive: true, mode: 0o700 });
      const outcome = await runGit(this.#gitDir, ["init", "--quiet", "--bare", "--template=", this.#gitDir]);
      if (outcome.exitCode !== 0) throw new GitFailed(["init"], outcome);
      await mkdir(join(this.#gitDir, "info"), { recursive: true });
      await writeFile(join(this.#gitDir, "info", "attributes"), ATTRIBUTES);
      await writeFile(join(this.#gitDir, "info", "exclude"), EXCLUDED);
      await writeFile(join(this.#gitDir, MADE), "");
    } catch (cause) {
      if (cause instanceof RequestError) throw cause;
      throw new RequestError("unavailable", `Checkpoints cannot be kept in ${this.#gitDir}: ${String(cause)}`, {
        cause,
      });
    }
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
