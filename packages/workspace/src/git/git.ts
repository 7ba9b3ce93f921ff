import { spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { delimiter, isAbsolute } from "node:path";
import { Writable } from "node:stream";
import { RequestError, TandemError } from "@tandem/protocol";
import type { Owner } from "../give-tree.ts";

/** Our commands are faster, except for a checkout of a large repository on a slow disk. */
const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_BYTES = 16 * 1_024 * 1_024;
const STDERR_TAIL = 4_096;

/** A repository's settings can name programs. These override the ones that our commands would run. */
const SETTINGS = {
  // A session can write files that look like a bare repository; git must not find one by itself.
  "safe.bareRepository": "explicit",
  // A server that is root works in repositories of tenants' OS users. None of a repository's settings can run a program.
  "safe.directory": "*",
  "core.hooksPath": "/dev/null",
  "core.fsmonitor": "false",
  "core.pager": "cat",
  "core.sshCommand": "false",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "protocol.allow": "never",
  "submodule.recurse": "false",
} as const;

export interface GitOptions {
  timeoutMs?: number;
  /** Longer output ends the command; the output up to then is returned. */
  maxBytes?: number;
  /** Settings that override the repository's. */
  settings?: Readonly<Record<string, string>>;
  /** Standard input. */
  input?: string | Uint8Array;
  /** Replaces the repository's own index. */
  indexFile?: string;
  signal?: AbortSignal;
  /** The OS user that runs git, for a server that is root: git then reaches no file that the user cannot reach. */
  user?: Owner | undefined;
  /** For a remote: restricts protocols, and passes on the user's network setup. */
  outside?: {
    protocols: readonly string[];
    variables: Readonly<Record<string, string | undefined>>;
    /** With a token, none of the user's git settings apply. */
    token?: GitToken;
  };
}

/**
 * A token for one server. git reads it from a pipe: it is in no argument, variable or file, and no server but this one
 * gets it.
 */
export interface GitToken {
  /** Such as `https://github.com`. */
  origin: string;
  secret: string;
}

export interface GitOutcome {
  /** Null if it was killed. */
  exitCode: number | null;
  stdout: Buffer;
  /** The end of stderr. */
  stderr: string;
  truncated: boolean;
}

/** A failed git command. Callers translate it to a more specific message. */
export class GitFailed extends TandemError {
  readonly stderr: string;

  constructor(args: readonly string[], { exitCode, stderr }: GitOutcome) {
    super("git_failed", `git ${args[0]} ended with ${exitCode}: ${stderr.trim() || "no message"}`);
    this.stderr = stderr;
  }
}

/** Running git processes, killed on a normal exit. */
const running = new Set<number>();
process.on("exit", () => {
  for (const pid of running) killGroup(pid);
});

/**
 * A repository that was checked before and is named to git, with the view of its settings; in a folder that no agent
 * writes, the folder, where git looks for the repository itself. `cwd` is in `folder`, the top folder. `user` runs git, like
 * that of the options.
 */
export type GitPlace =
  | string
  | { folder: string; gitDir: string; view?: string; cwd?: string; user?: Owner | undefined };

/** Runs a git command and returns its output as text. Rejects with `GitFailed`. */
export async function git(place: GitPlace, args: readonly string[], options: GitOptions = {}): Promise<string> {
  const outcome = await runGit(place, args, options);
  if (outcome.exitCode !== 0) throw new GitFailed(args, outcome);
  return outcome.stdout.toString("utf8");
}

/**
 * Runs a git command without shell, hooks, prompts, network, user or system settings, and optional locks, unless
 * `outside` is set. Untrusted arguments must be checked, or come after `--` or `--end-of-options`.
 */
export async function runGit(place: GitPlace, args: readonly string[], options: GitOptions = {}): Promise<GitOutcome> {
  const folder = typeof place === "string" ? place : (place.cwd ?? place.folder);
  const view = typeof place === "string" ? undefined : place.view;
  const named = typeof place === "string" ? [] : [`--git-dir=${place.gitDir}`, `--work-tree=${place.folder}`];
  const { timeoutMs = DEFAULT_TIMEOUT_MS, maxBytes = DEFAULT_MAX_BYTES, settings = {}, indexFile, signal } = options;
  signal?.throwIfAborted();
  const child = spawn("git", [...named, ...args], {
    cwd: folder,
    env: {
      ...variables({ ...settings, ...SETTINGS }, options.outside),
      ...(indexFile !== undefined && { GIT_INDEX_FILE: indexFile }),
      ...(view !== undefined && { GIT_COMMON_DIR: view }),
    },
    stdio: ["pipe", "pipe", "pipe", ...(options.outside?.token ? (["pipe"] as const) : [])],
    ...(options.user ?? (typeof place === "string" ? undefined : place.user)),
    // Own process group: git starts further processes, which must not outlive it.
    detached: true,
  });
  const { pid } = child;
  if (pid !== undefined) running.add(pid);
  // If git exits before reading everything, its exit code tells why.
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  if (options.outside?.token) handOver(child.stdio[TOKEN_DESCRIPTOR], options.outside.token.secret);
  const chunks: Buffer[] = [];
  let total = 0;
  let stderr = "";
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    killGroup(pid);
  }, timeoutMs);
  const onAbort = (): void => killGroup(pid);
  signal?.addEventListener("abort", onAbort, { once: true });
  child.stdout.on("data", (chunk: Buffer) => {
    if (total <= maxBytes) chunks.push(chunk);
    total += chunk.length;
    if (total > maxBytes) killGroup(pid);
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr = (stderr + chunk).slice(-STDERR_TAIL);
  });
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject).once("close", resolve);
    });
    signal?.throwIfAborted();
    if (timedOut) {
      throw new RequestError("unavailable", `git ${args[0]} took longer than ${timeoutMs / 1_000} s in ${folder}.`);
    }
    const truncated = total > maxBytes;
    return { exitCode, stdout: Buffer.concat(chunks).subarray(0, maxBytes), stderr, truncated };
  } catch (error) {
    throw await startError(error, folder);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    if (pid !== undefined) running.delete(pid);
  }
}

function variables(
  settings: Readonly<Record<string, string>>,
  outside: GitOptions["outside"],
): Record<string, string | undefined> {
  const allowed = (outside?.protocols ?? []).map((name) => [`protocol.${name}.allow`, "always"] as const);
  const entries = [...Object.entries(settings), ...allowed, ...(outside?.token ? tokenSettings(outside.token) : [])];
  return {
    // Relative PATH entries would find programs in the folder itself.
    PATH: (process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute).join(delimiter),
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "false",
    GIT_EDITOR: "false",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_CONFIG_COUNT: String(entries.length),
    ...Object.fromEntries(
      entries.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
    ...(outside && { ...(outside.token ? {} : USERS_OWN), ...outside.variables }),
  };
}

const TOKEN_DESCRIPTOR = 3;

/** The empty entry removes every helper named before it, which could keep the token. */
const tokenSettings = ({ origin }: GitToken): (readonly [string, string])[] => [
  ["credential.helper", ""],
  [
    `credential.${origin}.helper`,
    `!f() { test "$1" = get || exit 0; echo username=x-access-token; printf password=; cat <&${TOKEN_DESCRIPTOR}; }; f`,
  ],
  ["credential.useHttpPath", "false"],
  ["http.followRedirects", "false"],
];

function handOver(pipe: unknown, secret: string): void {
  if (!(pipe instanceof Writable)) throw new TandemError("git_failed", "git has no pipe for its token.");
  // git may end without having read it.
  pipe.on("error", () => {});
  pipe.end(`${secret}\n`);
}

/** Re-enables the user's settings for reaching remotes. */
const USERS_OWN = {
  GIT_CONFIG_NOSYSTEM: undefined,
  GIT_CONFIG_GLOBAL: undefined,
  GIT_SSH_COMMAND: "ssh -oBatchMode=yes",
} as const;

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has exited already.
  }
}

/** The system reports a missing folder and a missing git with the same error. */
async function startError(error: unknown, folder: string): Promise<unknown> {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "ENOENT") return error;
  const isThere = await stat(folder).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  return isThere
    ? new RequestError("not_supported", "git is not installed on this machine, or not in its PATH.", {
        fix: "Install git and start the server again.",
        cause: error,
      })
    : new RequestError("invalid_request", `The folder ${folder} does not exist.`, { cause: error });
}
