import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { createConnection, type Connection } from "mysql2/promise";

const UNPRIVILEGED = 65_534;
const isRoot = process.getuid?.() === 0;
const asUser = isRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
const START_DEADLINE_MS = 120_000;

/** A real MariaDB server for tests, on a socket in a scratch folder. */
export interface TestMariaDb extends AsyncDisposable {
  /** URL of the database, for a superuser or the given user. */
  url(database: string, user?: string): string;
  connect(database?: string): Promise<Connection>;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** Why MariaDB cannot run here; undefined if it can. */
export function whyNoMariaDb(): string | undefined {
  return find("mariadbd") && find("mariadb-install-db") ? undefined : "MariaDB is not installed here";
}

export async function startMariaDb({
  settings: more = [],
}: { settings?: readonly string[] } = {}): Promise<TestMariaDb> {
  const folder = mkdtempSync(join(tmpdir(), "tandem-mariadb-"));
  const data = join(folder, "data");
  mkdirSync(data);
  if (isRoot) for (const path of [folder, data]) chownSync(path, UNPRIVILEGED, UNPRIVILEGED);
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C", TZ: "UTC", HOME: folder };
  const options = ["--no-defaults", `--datadir=${data}`];
  const install = [...options, "--auth-root-authentication-method=normal", "--skip-test-db"];
  await promisify(execFile)(find("mariadb-install-db")!, install, { ...asUser, cwd: folder, env });

  const socket = join(folder, "s");
  let server: ChildProcess | undefined;
  const url = (database: string, user = "root"): string =>
    `mysql://${user}@localhost/${database}?socketPath=${encodeURIComponent(socket)}`;
  const connect = (database = "mysql"): Promise<Connection> =>
    createConnection({ uri: url(database), multipleStatements: true });
  const start = async (): Promise<void> => {
    const settings = [`--socket=${socket}`, `--pid-file=${join(folder, "pid")}`, "--skip-networking", ...more];
    const small = ["--innodb-buffer-pool-size=16M", "--innodb-flush-log-at-trx-commit=0", "--sync-frm=0"];
    // The shell kills the server when our end of the pipe closes, even if this process is killed.
    const script = '"$@" </dev/null >log 2>&1 & pid=$!; (read -r _; kill -9 $pid) <&3 & wait $pid; kill $! 2>/dev/null';
    server = spawn("/bin/sh", ["-c", script, "sh", find("mariadbd")!, ...options, ...settings, ...small], {
      ...asUser,
      cwd: folder,
      env,
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    const deadline = Date.now() + START_DEADLINE_MS;
    for (;;) {
      const connection = await connect().catch(() => undefined);
      if (connection) return await connection.end();
      if (Date.now() > deadline || server.exitCode !== null) {
        await kill();
        throw new Error(`MariaDB did not start. ${readFileSync(join(folder, "log"), "utf8")}`);
      }
      await delay(50);
    }
  };
  const kill = async (): Promise<void> => {
    if (!server || server.exitCode !== null) return;
    const ended = once(server, "exit");
    server.stdio[3]?.destroy();
    await ended;
  };
  await start();
  return {
    url,
    connect,
    kill,
    start,
    [Symbol.asyncDispose]: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

function find(program: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin", "/usr/bin"];
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}
