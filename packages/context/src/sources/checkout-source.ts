import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { TandemError } from "@tandem/protocol";
import { git, GitFailed, parseRemote, remoteVariables } from "@tandem/workspace";

const FETCH_MS = 5 * 60_000;

export interface GitSource {
  /** https, ssh or file; without credentials. */
  url: string;
  branch?: string | undefined;
  /** A token for https, from a secret reference. */
  token?: string | undefined;
}

/**
 * Fetches the last commit of a branch into a folder of the cache and returns it. The content is untrusted: no hooks, no
 * submodules, no filters, and links are plain files.
 */
export async function checkoutSource(
  { url, branch, token }: GitSource,
  {
    cache,
    variables,
    signal,
  }: { cache: string; variables: Readonly<Record<string, string | undefined>>; signal?: AbortSignal | undefined },
): Promise<string> {
  const remote = parseRemote(url);
  // A name that begins with `-` would be an option.
  if (branch !== undefined && (!/^[\p{L}\p{N}_][\p{L}\p{N}._/-]{0,200}$/u.test(branch) || branch.includes(".."))) {
    throw new TandemError("config_invalid", `${JSON.stringify(branch)} is not the name of a branch.`, {
      fix: "Correct the source's `branch`.",
    });
  }
  const name = createHash("sha256")
    .update(JSON.stringify([remote.url, branch]))
    .digest("hex")
    .slice(0, 24);
  const folder = join(cache, name);
  const options = signal ? { signal } : {};
  if (!existsSync(join(folder, ".git"))) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await git(folder, ["init", "--quiet"], options);
  }
  const ref = branch === undefined ? "HEAD" : `refs/heads/${branch}`;
  const args = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", remote.url, ref];
  try {
    await git(folder, args, {
      ...options,
      timeoutMs: FETCH_MS,
      outside: { protocols: [remote.protocol], variables: remoteVariables(variables) },
      ...(token !== undefined && { settings: authorization(remote.url, token) }),
    });
  } catch (cause) {
    if (!(cause instanceof GitFailed)) throw cause;
    const said = cause.stderr.trim().split("\n").at(-1) ?? "no message";
    throw new TandemError("source_missing", `${url} could not be fetched: ${said}`, {
      fix: "Check the address, the branch and the access: `git ls-remote` must work for this user without a question, or give a `token` by reference.",
      cause,
    });
  }
  const settings = { "core.symlinks": "false" };
  await git(folder, ["checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"], { ...options, settings });
  await git(folder, ["clean", "-ffdxq"], { ...options, settings });
  return folder;
}

/** Sent only to this host, and not after a redirect. In the environment, because other users can read arguments. */
function authorization(url: string, token: string): Record<string, string> {
  const basic = Buffer.from(`x-access-token:${token}`).toString("base64");
  const { origin } = new URL(url);
  return { [`http.${origin}/.extraHeader`]: `Authorization: Basic ${basic}`, "http.followRedirects": "false" };
}
