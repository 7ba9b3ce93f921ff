import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SandboxLimits } from "./sandbox-plan.ts";

const MOUNT = "/sys/fs/cgroup";
const PREFIX = "tandem-sandbox-";
/** The same files in both versions, for the number of processes. */
const FILES = { memory: "memory.max", pids: "pids.max" } as const;
type Controller = keyof typeof FILES;

/** A place where this process may make control groups. */
export interface GroupParent {
  folder: string;
  controllers: readonly Controller[];
}

/** A control group of the kernel. It limits all processes of a sandbox together, also those of root. */
export interface LimitGroup {
  /** Must be complete before the process starts others. The kernel may take some 10 ms for it. */
  add(pid: number): Promise<void>;
  /** Removes the group. All its processes must have ended. */
  close(): void;
}

/** Where groups can be made; undefined on most machines, unless the server is root or a systemd service of a user. */
export function groupParent(): GroupParent | undefined {
  return (known ??= { parent: candidates().find(isUsable) }).parent;
}

let known: { parent: GroupParent | undefined } | undefined;

/** Undefined if no limit is for a group, or the machine does not allow groups. Other limits remain. */
export function openLimitGroup(limits: SandboxLimits, parent = groupParent()): LimitGroup | undefined {
  if (parent === undefined) return undefined;
  const values = {
    memory: limits.memoryMb === undefined ? undefined : limits.memoryMb * 2 ** 20,
    pids: limits.processes,
  };
  const set = parent.controllers.filter((controller) => values[controller] !== undefined);
  if (set.length === 0) return undefined;
  const group = join(parent.folder, `${PREFIX}${process.pid}-${crypto.randomUUID()}`);
  try {
    mkdirSync(group);
    for (const controller of set) writeFileSync(join(group, FILES[controller]), String(values[controller]));
  } catch {
    removeGroup(group);
    return undefined;
  }
  return {
    add: (pid) => writeFile(join(group, "cgroup.procs"), String(pid)),
    close: () => removeGroup(group),
  };
}

/**
 * A sibling of the server's own group: the parent has passed on its controllers already, and a group with processes in it
 * cannot. In version 1, only the number of processes has the same files.
 */
function candidates(): GroupParent[] {
  const own = readOwnGroups();
  const second = own.get("") ?? "/";
  const folder = join(MOUNT, second === "/" ? "/" : dirname(second));
  const passed = existsSync(join(folder, "cgroup.subtree_control"))
    ? readFileSync(join(folder, "cgroup.subtree_control"), "utf8").split(/\s+/)
    : [];
  const controllers = (["memory", "pids"] as const).filter((controller) => passed.includes(controller));
  const first = own.get("pids");
  return [
    ...(controllers.length > 0 ? [{ folder, controllers }] : []),
    ...(first === undefined ? [] : [{ folder: join(MOUNT, "pids", first), controllers: ["pids" as const] }]),
  ];
}

/** The groups of this process by controller; version 2 has the empty name. */
function readOwnGroups(): Map<string, string> {
  const file = "/proc/self/cgroup";
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  return new Map(
    lines.flatMap((line) => {
      const [, names = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      return names.split(",").map((name): [string, string] => [name, path]);
    }),
  );
}

/** Also removes groups that a killed server left. */
function isUsable(parent: GroupParent): boolean {
  try {
    for (const name of readdirSync(parent.folder)) {
      const pid = Number(name.startsWith(PREFIX) && name.slice(PREFIX.length).split("-")[0]);
      if (pid > 0 && !existsSync(`/proc/${pid}`)) removeGroup(join(parent.folder, name));
    }
  } catch {
    return false;
  }
  const group = openLimitGroup({ tmpMb: 0, memoryMb: 64, processes: 8 }, parent);
  group?.close();
  return group !== undefined;
}

function removeGroup(group: string): void {
  try {
    rmdirSync(group);
  } catch {
    // It was not made, or a process is left; the next server removes it.
  }
}
