import { realpathSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { isBelow } from "./check-destinations.ts";
import { SandboxError } from "./sandbox-error.ts";
import type { HostMount, Mount } from "./sandbox-plan.ts";

/** A file or folder of the host that must be at this path inside. */
export interface MountIdentity {
  at: string;
  dev: bigint;
  ino: bigint;
}

/**
 * The sources that programs of another sandbox could replace by a link, between our checks and the mount. Throws a
 * `SandboxError` for a link below a folder that such programs can write.
 */
export function mountIdentities(mounts: readonly Mount[]): MountIdentity[] {
  const same = mounts.filter((mount): mount is HostMount => "from" in mount && (mount.at ?? mount.from) === mount.from);
  const writable = same.filter(({ access }) => access === "write").map(({ from }) => from);
  return same.flatMap(({ from }) => {
    const parents = writable.filter((folder) => isBelow(from, folder));
    if (parents.length === 0) return [];
    const { dev, ino } = statSync(from, { bigint: true });
    const above = parents.find((folder) => folder !== from);
    if (above !== undefined && realpathSync(from) !== join(realpathSync(above), relative(above, from))) {
      throw replaced(from);
    }
    return [{ at: from, dev, ino }];
  });
}

/** Compares them with the view of a process inside, before the program starts. Throws a `SandboxError` if one differs. */
export function checkMounted(identities: readonly MountIdentity[], pid: number): void {
  for (const { at, dev, ino } of identities) {
    const found = mountedAt(pid, at);
    if (found !== "unknown" && (found?.dev !== dev || found.ino !== ino)) throw replaced(at);
  }
}

function mountedAt(pid: number, at: string): { dev: bigint; ino: bigint } | "unknown" | undefined {
  try {
    return statSync(`/proc/${pid}/root${at}`, { bigint: true, throwIfNoEntry: false });
  } catch {
    // A kernel may forbid this look at another process.
    return "unknown";
  }
}

const replaced = (path: string): SandboxError =>
  new SandboxError("sandbox_link", `${path} was replaced while the sandbox was made.`, {
    fix: "Look at this path: another session may have changed it. Then try again.",
  });
