import { lstatSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { SandboxError } from "./sandbox-error.ts";
import type { Mount, SandboxPlan } from "./sandbox-plan.ts";

/**
 * Refuses mounts below a symbolic link in a folder that the program can write. The program could have made the link in an
 * earlier run, and bubblewrap would follow it out of the sandbox when it creates the mount point.
 */
export function checkDestinations(home: SandboxPlan["home"], mounts: readonly Mount[]): void {
  let writable = [home];
  for (const mount of mounts) {
    const at = "from" in mount ? (mount.at ?? mount.from) : mount.at;
    const over = writable.findLast((each) => isBelow(at, each.at));
    if (over) refuseLinks(over, at);
    // This mount covers those below it.
    writable = writable.filter((each) => !isBelow(each.at, at));
    if ("from" in mount && mount.access === "write") writable.push({ from: mount.from, at });
  }
}

function refuseLinks(over: SandboxPlan["home"], at: string): void {
  const inside = relative(over.at, at);
  for (let path = inside; path !== "." && path !== ""; path = dirname(path)) {
    const file = join(over.from, path);
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) {
      throw new SandboxError("sandbox_link", `The sandbox needs ${at}, but ${file} is a symbolic link.`, {
        fix: `Remove the link ${file} and try again.`,
      });
    }
  }
}

export const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
