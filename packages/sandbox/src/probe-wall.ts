import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { baseView } from "./base-view.ts";
import type { OsUser, Wall, WallOff, WallOn } from "./sandbox-plan.ts";
import { isProcessor, seccompFilter } from "./seccomp-filter.ts";
import { wallFlags } from "./wall-flags.ts";
import { wallProblem } from "./wall-problem.ts";

const PROBE_MS = 10_000;

export interface Machine {
  platform: string;
  arch: string;
}

/** Variables of the server; only PATH counts. `user` is the one of the plan: the kernel may treat users differently. */
export async function probeWall(variables: { PATH?: string | undefined }, user?: OsUser): Promise<Wall> {
  return knownWall(variables, user);
}

/** The same without waiting. Probes once per process, PATH and user, which blocks for about 20 ms. */
export function knownWall({ PATH: path = "" }: { PATH?: string | undefined }, user?: OsUser): Wall {
  const key = JSON.stringify([path, user?.uid, user?.gid]);
  const found = known.get(key) ?? probe(path, user, process);
  known.set(key, found);
  return found;
}

const known = new Map<string, Wall>();

/** Not cached. A container or kernel may forbid parts of it, which only a test run with the real flags shows. */
export function probe(path: string, user: OsUser | undefined, { platform, arch }: Machine): Wall {
  if (platform !== "linux") return off("unsupported_system", platform);
  if (!isProcessor(arch)) return off("unsupported_processor", arch);
  const bwrap = findTool("bwrap", path);
  if (bwrap === undefined) return off("bubblewrap_missing", "");
  const tools = { socat: findTool("socat", path), prlimit: findTool("prlimit", path) };
  const wall: WallOn = {
    on: true,
    bwrap,
    processor: arch,
    disablesUserNamespaces: true,
    ...(tools.socat !== undefined && { socat: tools.socat }),
    ...(tools.prlimit !== undefined && { prlimit: tools.prlimit }),
  };
  const said = failure(wall, path, user);
  if (said === undefined) return wall;
  // gVisor has no such setting. The system call filter forbids user namespaces there.
  if (/disable.userns|max_user_namespaces: (No such file|Permission)/i.test(said)) {
    const without = { ...wall, disablesUserNamespaces: false };
    if (failure(without, path, user) === undefined) return without;
  }
  return off(undefined, said);
}

/** The error of a test run; undefined if it worked. */
function failure(wall: WallOn, path: string, user: OsUser | undefined): string | undefined {
  const view = ["--ro-bind", "/", "/", ...baseView(1)];
  const args = [...wallFlags(wall), "--seccomp", "0", ...view, "--", "/bin/sh", "-c", ":"];
  const run = spawnSync(wall.bwrap, args, {
    input: seccompFilter(wall.processor),
    encoding: "utf8",
    env: { PATH: path },
    cwd: "/",
    timeout: PROBE_MS,
    ...user,
  });
  if (run.status === 0) return undefined;
  return run.stderr?.trim() || (run.error?.message ?? `exit code ${run.status ?? run.signal}`);
}

const off = (
  code: "unsupported_system" | "unsupported_processor" | "bubblewrap_missing" | undefined,
  said: string,
): WallOff => ({
  on: false,
  ...wallProblem(code, said),
});

/** A path without the tool's folder is common for services, so the usual folders count too. */
function findTool(name: string, path: string): string | undefined {
  const folders = [...path.split(delimiter), "/usr/bin", "/bin", "/usr/sbin", "/usr/local/bin"];
  return folders
    .filter((folder) => folder.startsWith("/"))
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
