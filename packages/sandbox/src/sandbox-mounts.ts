import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { isBelow } from "./check-destinations.ts";
import { gitMounts } from "./git-mounts.ts";
import { SandboxError } from "./sandbox-error.ts";
import type { HostMount, Mount, OsUser } from "./sandbox-plan.ts";
import { systemMounts, type Identity } from "./system-mounts.ts";
import { toolchainMounts } from "./toolchain-mounts.ts";

const GIT_MS = 5_000;

export interface SessionPlace {
  /** The session's folder, resolved. */
  folder: string;
  /** The home of the server's user. */
  home: string;
  /** Tandem's own folder: tokens, the database, other sessions. */
  tandemHome: string;
  /** PATH of the programs inside. */
  path: string;
  /** The user of the plan. */
  user?: OsUser;
  /** For commits inside; see `gitIdentity`. */
  identity?: Identity;
  /** Further mounts, of trusted configuration. */
  extra?: readonly HostMount[];
}

/** Everything of the host that a session sees, in mount order. Throws a `SandboxError` for a mount that would show too much. */
export function sandboxMounts(place: SessionPlace): Mount[] {
  const { folder, home, tandemHome, path, user, identity = {}, extra = [] } = place;
  const hidden = [tandemHome, ...(existsSync(tandemHome) ? [realpathSync(tandemHome)] : [])];
  if (realpathSync(folder) !== folder) {
    throw new SandboxError("sandbox_link", `The session's folder ${folder} is now a symbolic link.`, {
      fix: "Replace the link by the folder, or create a session in its target.",
    });
  }
  refuseTooMuch(folder, home, hidden);
  for (const { from } of extra) {
    const real = existsSync(from) ? realpathSync(from) : from;
    refuseTooMuch(real, home, hidden);
    // Unlike session folders, which may be scratch folders there.
    if (hidden.some((each) => isBelow(real, each))) throw tooMuch(from, "is in Tandem's own folder");
  }
  return [
    ...systemMounts(home, user, identity),
    ...toolchainMounts({ home, path, hidden }),
    { from: folder, access: "write" },
    ...gitMounts(folder),
    ...extra,
  ];
}

function refuseTooMuch(path: string, home: string, hidden: readonly string[]): void {
  if (hidden.some((each) => isBelow(each, path))) throw tooMuch(path, "contains Tandem's own folder, with its tokens");
  const homes = [home, ...(existsSync(home) ? [realpathSync(home)] : [])];
  if (homes.some((each) => isBelow(each, path)))
    throw tooMuch(path, "contains the home folder, with its keys and logins");
}

const tooMuch = (path: string, why: string): SandboxError =>
  new SandboxError("sandbox_mount_refused", `The sandbox cannot show ${path}, because it ${why}.`, {
    fix: "Use a folder below it, or set `sandbox.mode` to `off` to run without a sandbox.",
  });

/** The user's name and email for commits. Nothing else of the user's git configuration goes inside. */
export async function gitIdentity(variables: Readonly<Record<string, string | undefined>>): Promise<Identity> {
  const { PATH, HOME, XDG_CONFIG_HOME } = variables;
  const files = [join(HOME ?? "", ".gitconfig"), join(XDG_CONFIG_HOME || join(HOME ?? "", ".config"), "git", "config")];
  // Starting git takes milliseconds of each session's start.
  if (!files.some((file) => existsSync(file))) return {};
  const options = { cwd: "/", timeout: GIT_MS, env: { PATH, HOME, XDG_CONFIG_HOME } };
  const args = ["config", "--global", "--null", "--get-regexp", "^user\\.(name|email)$"];
  // Not set, or git is not installed.
  const { stdout } = await promisify(execFile)("git", args, options).catch(() => ({ stdout: "" }));
  const lines = stdout.split("\0").map((line): [string, string] => {
    const [key = "", ...value] = line.split("\n");
    return [key, value.join("\n").trim()];
  });
  // The last one counts, as in git.
  const last = (key: string): string | undefined => lines.findLast(([each]) => each === key)?.[1] || undefined;
  const [name, email] = [last("user.name"), last("user.email")];
  return { ...(name !== undefined && { name }), ...(email !== undefined && { email }) };
}
