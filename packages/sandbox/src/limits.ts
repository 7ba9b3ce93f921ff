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
export function limitsInForce(wall: WallOn, isRoot: boolean): LimitInForce[] {
  const missing = wall.prlimit === undefined;
  const none = { scope: "none", note: "prlimit is not installed (package util-linux)." } as const;
  return [
    missing
      ? { name: "memory", ...none }
      : {
          name: "memory",
          scope: "process",
          note: "The kernel limits each process, not all processes of a sandbox together.",
        },
    missing
      ? { name: "processes", ...none }
      : isRoot
        ? {
            name: "processes",
            scope: "none",
            note: "The kernel does not limit processes of root: run the server as another user.",
          }
        : { name: "processes", scope: "sandbox" },
    missing ? { name: "files", ...none } : { name: "files", scope: "process" },
    missing ? { name: "file size", ...none } : { name: "file size", scope: "process" },
    { name: "/tmp", scope: "sandbox" },
  ];
}
