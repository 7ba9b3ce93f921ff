import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { asUser, own, queryPostgres } from "./postgres.ts";

const PROGRAM = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer"].find(existsSync);
const PORT = 6432;
const START_DEADLINE_MS = 30_000;

/** A real PgBouncer for tests, in front of a `TestPostgres`. */
export interface TestPgBouncer extends AsyncDisposable {
  /** The address of a database through this pooler. */
  pooled(url: string): string;
}

/** Why PgBouncer cannot run here; undefined if it can. */
export const whyNoPgBouncer = (): string | undefined => (PROGRAM ? undefined : "there is no PgBouncer");

/**
 * `url` is that of any database of the server. Few connections to it, so that clients of a pooler in transaction mode
 * share them all the time.
 */
export async function startPgBouncer(
  url: string,
  { mode, poolSize = 4 }: { mode: "transaction" | "session"; poolSize?: number },
): Promise<TestPgBouncer> {
  if (PROGRAM === undefined) throw new Error(`PgBouncer cannot be started: ${whyNoPgBouncer()}.`);
  const folder = mkdtempSync(join(tmpdir(), "tandem-pgbouncer-"));
  const server = new URL(url).searchParams.get("host") ?? "";
  const settings = {
    unix_socket_dir: folder,
    listen_port: PORT,
    auth_type: "any",
    pool_mode: mode,
    default_pool_size: poolSize,
    max_client_conn: 500,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(
    join(folder, "pgbouncer.ini"),
    ["[databases]", `* = host=${server} user=postgres`, "[pgbouncer]", ...lines, ""].join("\n"),
  );
  own(folder);
  const pooled = (address: string): string => {
    const changed = new URL(address);
    changed.searchParams.set("host", folder);
    changed.port = String(PORT);
    return changed.href;
  };
  const log = join(folder, "pgbouncer.log");
  // The shell kills the pooler when our end of the pipe closes, even if this process is killed.
  const script =
    '"$@" </dev/null >"$LOG" 2>&1 & pid=$!; (read -r _; kill -9 $pid) <&3 & wait $pid; kill $! 2>/dev/null';
  const child = spawn("/bin/sh", ["-c", script, "sh", PROGRAM, join(folder, "pgbouncer.ini")], {
    ...asUser,
    cwd: folder,
    env: { PATH: "/usr/bin:/bin", LOG: log },
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const close = async (): Promise<void> => {
    const ended = child.exitCode === null ? once(child, "exit") : undefined;
    child.stdio[3]?.destroy();
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  const deadline = Date.now() + START_DEADLINE_MS;
  while (!(await answers(pooled(url)))) {
    if (Date.now() > deadline || child.exitCode !== null) {
      const words = existsSync(log) ? readFileSync(log, "utf8") : "";
      await close();
      throw new Error(`PgBouncer did not start. ${words}`);
    }
    await delay(20);
  }
  return { pooled, [Symbol.asyncDispose]: close };
}

const answers = (url: string): Promise<boolean> =>
  queryPostgres(url, "select 1").then(
    () => true,
    () => false,
  );
