import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface FoundProcess {
  pid: number;
  parent: number;
  /** Identifies a process together with the pid, because pids are reused. */
  startedAt: string;
  command: string;
}

export const hasProcessTable = process.platform === "linux";

/** All processes of this machine. Empty without /proc. */
export function allProcesses(): FoundProcess[] {
  if (!hasProcessTable) return [];
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? readProcess(Number(name)) : []));
}

function readProcess(pid: number): FoundProcess[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before `)` may contain any characters.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z") return [];
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return [{ pid, parent: Number(fields[1]), startedAt: fields[19] ?? "", command }];
  } catch {
    // It has exited.
    return [];
  }
}

export function descendantsOf(pid: number, table: readonly FoundProcess[] = allProcesses()): FoundProcess[] {
  const found = table.filter(({ parent }) => parent === pid);
  for (const one of found) found.push(...table.filter(({ parent }) => parent === one.pid));
  return found;
}

/** Whether a process carries a text in its environment, arguments or working folder. */
export function isMarked({ pid, command }: FoundProcess, mark: string): boolean {
  try {
    if (command.includes(mark) || readlinkSync(`/proc/${pid}/cwd`).includes(mark)) return true;
    return readFileSync(`/proc/${pid}/environ`, "utf8").includes(mark);
  } catch {
    return false;
  }
}

/** The process that listens on a port of this machine: behind `npm start` it is not the one that was started. */
export function listenerOn(port: number, table: readonly FoundProcess[]): FoundProcess | undefined {
  const sockets = new Set(["tcp", "tcp6"].flatMap((family) => listeningSockets(family, port)));
  if (sockets.size === 0) return undefined;
  return table.find(({ pid }) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => sockets.has(link(`/proc/${pid}/fd/${fd}`)));
    } catch {
      return false;
    }
  });
}

const LISTEN = "0A";

function listeningSockets(family: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  try {
    return readFileSync(`/proc/net/${family}`, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(`:${hex}`) && state === LISTEN)
      .map((fields) => `socket:[${fields[9]}]`);
  } catch {
    return [];
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
