import { groupParent } from "./limit-group.ts";
import type { SandboxLimits, WallOn } from "./sandbox-plan.ts";

/**
 * Set inside, by prlimit: the kernel then counts processes per sandbox. A limit set before would also count the user's
 * processes outside.
 */
export function limitFlags({ prlimit }: WallOn, limits: SandboxLimits): string[] {
  const { processes, files, fileMb, memoryMb } = limits;
  const flags = [
    ...(processes === undefined ? [] : [`--nproc=${processes}`]),
    ...(files === undefined ? [] : [`--nofile=${files}`]),
    ...(fileMb === undefined ? [] : [`--fsize=${fileMb * 2 ** 20}`]),
    ...(memoryMb === undefined ? [] : [`--data=${memoryMb * 2 ** 20}`]),
    "--core=0",
  ];
  return prlimit === undefined ? [] : [prlimit, ...flags, "--"];
}

/** How far one limit holds on this machine. */
export interface LimitInForce {
  name: "memory" | "processes" | "files" | "file size" | "/tmp";
  scope: "sandbox" | "process" | "none";
  /** One sentence, where it holds less than expected. */
  note?: string;
}

/** Which limits bind. `isRoot`: the user that runs the programs is root. */
export function limitsInForce({ prlimit }: WallOn, isRoot: boolean, group = groupParent()): LimitInForce[] {
  const absent = { scope: "none", note: "prlimit is not installed (package util-linux)." } as const;
  const each = prlimit === undefined ? absent : ({ scope: "process" } as const);
  return [
    {
      name: "memory",
      ...(group?.controllers.includes("memory") ? WHOLE : prlimit === undefined ? absent : PER_PROCESS),
    },
    {
      name: "processes",
      ...(group?.controllers.includes("pids") ? WHOLE : prlimit === undefined ? absent : isRoot ? NOT_ROOT : WHOLE),
    },
    { name: "files", ...each },
    { name: "file size", ...each },
    { name: "/tmp", ...WHOLE },
  ];
}

const WHOLE = { scope: "sandbox" } as const;
const PER_PROCESS = {
  scope: "process",
  note: "The kernel limits each process, not all processes of a sandbox together.",
} as const;
const NOT_ROOT = {
  scope: "none",
  note: "The kernel does not limit processes of root: run the server as another user.",
} as const;
