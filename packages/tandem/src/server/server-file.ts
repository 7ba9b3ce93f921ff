import { rm, stat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { tandemHome, type Variables } from "../config/tandem-home.ts";
import { writeFileAtomically } from "../config/write-file-atomically.ts";
import { processStart } from "./process-start.ts";

const serverFile = z.object({
  version: z.literal(1),
  url: z.string(),
  pid: z.int().positive(),
  /** Detects a reused pid, so that a token is not sent to another program. */
  process_start: z.string(),
  started_at: z.string(),
  token_file: z.string(),
  /** The server's TLS certificate, pinned by local clients. */
  certificate: z.string().optional(),
  /** The database, as the store describes it. */
  database: z.string(),
  /** The address for opencode's clients, if they are served. */
  opencode_url: z.string().optional(),
  /** Folders that its sessions may use, with their subfolders. */
  roots: z.array(z.string()),
  /** The payer of its sessions. */
  payer: z.string(),
  /** Whether a scripted model answers. */
  demo: z.boolean(),
});
export type ServerInfo = z.output<typeof serverFile>;

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
    return serverFile.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    // Missing, or written by another version and unusable.
    return undefined;
  }
}
