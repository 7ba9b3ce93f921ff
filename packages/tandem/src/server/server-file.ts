import { rm, stat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { tandemHome, type Variables } from "../config/tandem-home.ts";
import { writeFileAtomically } from "../config/write-file-atomically.ts";

export interface ServerInfo {
  version: 1;
  url: string;
  pid: number;
  /** Detects a reused pid, so that a token is not sent to another program. */
  process_start: string;
  started_at: string;
  token_file: string;
  /** The server's TLS certificate, pinned by local clients. */
  certificate?: string | undefined;
  /** The database, as the store describes it. */
  database: string;
  /** The address for opencode's clients, if they are served. */
  opencode_url?: string | undefined;
  /** Folders that its sessions may use, with their subfolders. */
  roots: string[];
  /** The payer of its sessions. */
  payer: string;
  /** Whether a scripted model answers. */
  demo: boolean;
}

const TYPES = {
  url: "string",
  pid: "number",
  process_start: "string",
  started_at: "string",
  token_file: "string",
  database: "string",
  payer: "string",
  demo: "boolean",
} as const;

/** Without zod: most commands beside a server need it for nothing else, and it takes longer than all of their own work. */
function isServerInfo(value: unknown): value is ServerInfo {
  const info = value as Partial<Record<keyof ServerInfo, unknown>> | null;
  return (
    info?.version === 1 &&
    Object.entries(TYPES).every(([name, type]) => typeof info[name as keyof typeof TYPES] === type) &&
    [info.certificate, info.opencode_url].every((text) => text === undefined || typeof text === "string") &&
    Array.isArray(info.roots) &&
    info.roots.every((root) => typeof root === "string")
  );
}

const pathOf = (env: Variables): string => join(tandemHome(env), "server.json");

export async function writeServerFile(
  env: Variables,
  info: Omit<ServerInfo, "version" | "pid" | "process_start" | "started_at">,
): Promise<AsyncDisposable> {
  const file = pathOf(env);
  const whole: ServerInfo = {
    version: 1,
    pid: process.pid,
    process_start: processStart(process.pid) ?? "",
    started_at: new Date().toISOString(),
    ...info,
  };
  // Remove first, so that the write does not follow a planted symbolic link.
  await rm(file, { force: true });
  await writeFileAtomically(file, `${JSON.stringify(whole, null, 2)}\n`, 0o600);
  return {
    async [Symbol.asyncDispose]() {
      // Another server may have replaced the file.
      if ((await readServerFile(env))?.pid === process.pid) await rm(file, { force: true });
    },
  };
}

/** Finds the running server. Ignores the file of a dead one. */
export async function findServer(env: Variables): Promise<ServerInfo | undefined> {
  const info = await readServerFile(env);
  return info && processStart(info.pid) === info.process_start ? info : undefined;
}

async function readServerFile(env: Variables): Promise<ServerInfo | undefined> {
  const file = pathOf(env);
  try {
    // A user who can write this file could redirect our token.
    if (process.platform !== "win32" && ((await stat(file)).mode & 0o022) !== 0) return undefined;
    const info: unknown = JSON.parse(await readFile(file, "utf8"));
    // Another version may have written it.
    return isServerInfo(info) ? info : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The start time of a process, in the system's format. Together with the pid it detects a reused pid. Undefined if there is no
 * such process. (The claude-code package has the same function but loads slowly.)
 */
function processStart(pid: number): string | undefined {
  try {
    if (process.platform !== "linux") {
      const env = { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
      const line = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
        encoding: "utf8",
        timeout: 5_000,
        env,
      });
      return line.trim().startsWith("Z") ? undefined : line.trim().replace(/^\S+\s+/, "");
    }
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z") return undefined;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${fields[19]}`;
  } catch {
    return undefined;
  }
}
