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
  /** Tells the server from a later process of the same pid: a token is not sent to a stranger. */
  process_start: z.string(),
  started_at: z.string(),
  token_file: z.string(),
  /** Of its own TLS; clients on this machine take no other for it. */
  certificate: z.string().optional(),
  /** As the store describes its place. */
  database: z.string(),
  /** Folders that its sessions may work in or under. */
  roots: z.array(z.string()),
  /** Who pays for its sessions. */
  payer: z.string(),
  /** Whether a rehearsed model answers. */
  demo: z.boolean(),
});
/** The server of this home, as its own clients find it. */
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
  // Not through what somebody may have put in its place.
  await rm(file, { force: true });
  await writeFileAtomically(file, `${JSON.stringify(whole, null, 2)}\n`, 0o600);
  return {
    async [Symbol.asyncDispose]() {
      // Another server may have taken over meanwhile.
      if ((await readServerFile(env))?.pid === process.pid) await rm(file, { force: true });
    },
  };
}

/** The server that is up, if one is. What a server that died has left is passed over. */
export async function findServer(env: Variables): Promise<ServerInfo | undefined> {
  const info = await readServerFile(env);
  return info && processStart(info.pid) === info.process_start ? info : undefined;
}

async function readServerFile(env: Variables): Promise<ServerInfo | undefined> {
  const file = pathOf(env);
  try {
    // Whoever can write it could have our token sent to them.
    if (process.platform !== "win32" && ((await stat(file)).mode & 0o022) !== 0) return undefined;
    return serverFile.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    // There is none, or one of another version, which is as good as none.
    return undefined;
  }
}
