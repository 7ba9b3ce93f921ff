import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";

/** Follows the holder's name in a lease. Names contain no tab. */
const SEPARATOR = "\t";

/** Identifies a process of this machine: boot, pid namespace, pid and start time. Pids alone are reused. */
interface LocalProcess {
  boot: string;
  namespace: string;
  pid: number;
  start: string;
}

/** A holder's name, followed by the process that holds the lease. */
export const withProcess = (holder: string): string =>
  `${holder}${SEPARATOR}${JSON.stringify((own ??= identify(process.pid)))}`;
let own: LocalProcess | undefined;

/** The holder's name, without its process. */
export const holderName = (stored: string): string => stored.split(SEPARATOR)[0]!;

/**
 * Whether the holder of a lease has certainly ended. False if that cannot be known, for example for a process in another
 * container. `isShared`: other machines use the database too, and a boot id that is not ours may be one of theirs.
 */
export function isHolderDead(stored: string, isShared: boolean): boolean {
  const held = readProcess(stored);
  if (!held) return false;
  const here = identify(process.pid);
  if (isShared && here.boot === NO_BOOT_ID) return false;
  if (held.boot !== here.boot) return !isShared;
  return held.namespace === here.namespace && identify(held.pid).start !== held.start;
}

function readProcess(stored: string): LocalProcess | undefined {
  const [, text] = stored.split(SEPARATOR);
  if (text === undefined) return undefined;
  try {
    const found = JSON.parse(text) as Partial<LocalProcess>;
    const { boot, namespace, pid, start } = found;
    if (!boot || !namespace || !Number.isInteger(pid) || !start) return undefined;
    return { boot, namespace, pid: pid!, start };
  } catch {
    return undefined;
  }
}

/** Outside Linux, machines cannot be told apart. */
const NO_BOOT_ID = "any";

/** `start` is empty if there is no such process. */
function identify(pid: number): LocalProcess {
  const isLinux = process.platform === "linux";
  const boot = isLinux ? attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()) : NO_BOOT_ID;
  const namespace = isLinux ? attempt(() => readlinkSync("/proc/self/ns/pid")) : "any";
  return { boot, namespace, pid, start: attempt(() => (isLinux ? linuxStart(pid) : otherStart(pid))) };
}

function linuxStart(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" ? "" : (fields[19] ?? "");
}

function otherStart(pid: number): string {
  const env = { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
  const line = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
    encoding: "utf8",
    env,
    timeout: 5_000,
  });
  return line.trim().startsWith("Z") ? "" : line.trim().replace(/^\S+\s+/, "");
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
