import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RequestError } from "@tandem/protocol";
import { git, GitFailed } from "./git.ts";

/** For a large repository over a slow network. */
const CLONE_MS = 10 * 60_000;

const HEADS = "+refs/heads/*:refs/heads/*";
const TAGS = "+refs/tags/*:refs/tags/*";
const REMOTE_HEADS = "+refs/heads/*:refs/remotes/origin/*";

/** The user's variables that git and ssh need to reach a remote. */
const WAYS_OUT = `HOME USER LOGNAME SSH_AUTH_SOCK GIT_ASKPASS SSH_ASKPASS GIT_SSH_COMMAND GIT_CONFIG_GLOBAL
  HTTPS_PROXY https_proxy ALL_PROXY all_proxy NO_PROXY no_proxy SSL_CERT_FILE SSL_CERT_DIR
  GIT_SSL_CAINFO`.split(/\s+/);

/** The part of a user's environment that reaches remotes. */
export const remoteVariables = (variables: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(WAYS_OUT.flatMap((name) => (variables[name] === undefined ? [] : [[name, variables[name]]])));

export interface GitRemote {
  protocol: "https" | "ssh" | "file";
  /** URL for git, without a password. */
  url: string;
  /** Only for `file`. */
  path?: string;
}

/** Accepts https, ssh and folders. Other protocols run programs or are unencrypted. */
export function parseRemote(text: string): GitRemote {
  const refuse = (why: string) =>
    new RequestError("invalid_request", `${JSON.stringify(text)} cannot be cloned: ${why}.`, {
      fix: "Name a remote as https://HOST/PATH, ssh://git@HOST/PATH or git@HOST:PATH, or a folder under a root.",
    });
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\u007f]/.test(text)) throw refuse("it has blanks or control characters");
  // git reads `https://one\\@two/` as a user at the host two, `URL` as the host one.
  if (text.includes("\\")) throw refuse("it has a backslash");
  if (text.startsWith("/")) return { protocol: "file", url: text, path: text };
  if (/^[A-Za-z0-9_.-]+@[A-Za-z0-9][A-Za-z0-9.-]*:(?!\/\/)[^-:][^:]*$/.test(text))
    return { protocol: "ssh", url: text };
  const url = URL.parse(text);
  if (!url || text.includes("::")) throw refuse("it is not the address of a git remote");
  switch (url.protocol) {
    case "https:":
      if (url.username || url.password) throw refuse("credentials are the worker's, set up in its own git");
      return { protocol: "https", url: text };
    case "ssh:":
      if (url.password || !/^[A-Za-z0-9]/.test(url.hostname)) throw refuse("it has a password, or no host");
      return { protocol: "ssh", url: text };
    case "file:":
      if (url.host !== "") throw refuse("a folder of another machine is not read");
      return { protocol: "file", url: fileURLToPath(url), path: fileURLToPath(url) };
    default:
      throw refuse("only https, ssh and folders are taken");
  }
}

/**
 * Clones of remotes, fetched incrementally, in two copies. The mirror is fetched with the user's credentials, and no
 * session works on it: a session that can write a repository's settings could redirect its remote or run a program.
 * Worktrees use the second copy, which is fetched from the mirror.
 */
export class RemoteClones {
  readonly #folder: string;
  readonly #variables: Readonly<Record<string, string | undefined>>;
  readonly #opening = new Map<string, Promise<unknown>>();

  /** `variables` is the environment of the user who runs this process. */
  constructor(folder: string, variables: Readonly<Record<string, string | undefined>>) {
    this.#folder = folder;
    this.#variables = variables;
  }

  /**
   * Returns a repository that is up to date with the remote, with branches as `origin/NAME`, and the remote's default
   * branch.
   */
  async open(remote: GitRemote): Promise<{ repository: string; branch: string }> {
    const name = createHash("sha256").update(remote.url).digest("hex").slice(0, 24);
    // Serialised: concurrent calls would write the same files.
    const before = this.#opening.get(name) ?? Promise.resolve();
    const opened = before.then(() => this.#open(remote, join(this.#folder, name)));
    const settled = opened.catch(() => undefined);
    this.#opening.set(name, settled);
    void settled.then(() => this.#opening.get(name) === settled && this.#opening.delete(name));
    return opened;
  }

  async #open(remote: GitRemote, folder: string): Promise<{ repository: string; branch: string }> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const mirror = join(folder, "mirror.git");
    const bare = [`--git-dir=${mirror}`];
    const outside = { protocols: [remote.protocol], variables: remoteVariables(this.#variables) };
    const fetched = { timeoutMs: CLONE_MS, outside };
    try {
      if (existsSync(mirror))
        await git(mirror, [...bare, "fetch", "--quiet", "--prune", "--", remote.url, HEADS, TAGS], fetched);
      else
        await this.#whole(mirror, (into) =>
          git(folder, ["clone", "--quiet", "--bare", "--", remote.url, into], fetched),
        );
    } catch (cause) {
      throw cause instanceof GitFailed ? unreachable(remote, cause) : cause;
    }
    const repository = join(folder, "repository");
    if (!existsSync(repository)) {
      await this.#whole(repository, async (into) => {
        await git(folder, ["init", "--quiet", "--", into]);
        await git(into, ["config", "remote.origin.url", remote.url]);
        await git(into, ["config", "remote.origin.fetch", REMOTE_HEADS]);
      });
    }
    const near = {
      timeoutMs: CLONE_MS,
      outside: { protocols: ["file"], variables: { GIT_CONFIG_GLOBAL: "/dev/null" } },
    };
    const args = ["fetch", "--quiet", "--prune", "--upload-pack=git-upload-pack", "--", mirror, REMOTE_HEADS, TAGS];
    await git(repository, args, near);
    const branch = (await git(mirror, [...bare, "symbolic-ref", "--short", "HEAD"])).trim();
    return { repository, branch };
  }

  /** Atomic: an interrupted clone is never used. */
  async #whole(folder: string, make: (into: string) => Promise<unknown>): Promise<void> {
    const draft = `${folder}.${randomUUID()}`;
    try {
      await make(draft);
      await rename(draft, folder);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
  }
}

function unreachable({ url }: GitRemote, cause: GitFailed): RequestError {
  const said = cause.stderr.trim().split("\n").at(-1) ?? "no message";
  return new RequestError("unavailable", `${url} could not be cloned or fetched: ${said}`, {
    fix: "Check the address, and that `git ls-remote` works for the user who runs the worker, without a question.",
    cause,
  });
}
