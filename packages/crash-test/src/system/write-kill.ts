import { existsSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Runs inside a tested program, in each of its threads. Once a file names its process, it counts writes, and kills the process
 * before one of them: to files, to SQLite and to sockets, which includes answers to clients and statements for Postgres.
 */
const HOOK = `
import fs from "node:fs";
import net from "node:net";
import { syncBuiltinESMExports } from "node:module";
const { readFileSync, writeFileSync } = fs;
const { CRASH_TEST_WRITES: writes, CRASH_TEST_WRITES_MARK: mark } = process.env;
let left = 0;
let isArmed = false;
const count = () => {
  if (left > 0 && (left -= 1) === 0) process.kill(process.pid, "SIGKILL");
};
const wrap = (owner, names) => {
  for (const name of names) {
    const original = owner[name];
    if (typeof original !== "function") continue;
    owner[name] = function (...args) {
      count();
      return Reflect.apply(original, this, args);
    };
  }
};
const arm = async () => {
  isArmed = true;
  wrap(fs, ["writeSync", "writeFileSync", "appendFileSync", "renameSync", "rmSync", "unlinkSync", "mkdirSync"]);
  wrap(fs.promises, ["writeFile", "appendFile", "rename", "rm", "unlink", "mkdir"]);
  wrap(net.Socket.prototype, ["write"]);
  syncBuiltinESMExports();
  const { DatabaseSync, StatementSync } = await import("node:sqlite");
  wrap(DatabaseSync.prototype, ["exec"]);
  wrap(StatementSync.prototype, ["run", "get", "all"]);
};
const look = () => {
  let number = 0;
  try {
    number = Number(readFileSync(writes + "-" + process.pid, "utf8"));
  } catch {}
  if (number === 0) left = 0;
  else if (left === 0) {
    left = number;
    if (!isArmed) arm().catch(() => undefined);
  }
};
if (writes) {
  setInterval(look, 50).unref();
  try {
    writeFileSync(mark, "");
  } catch {}
}
`;

/** Kills servers that run on Node between two of their writes. Others do not load the hook, and the fault is skipped. */
export class WriteKill {
  /** In addition to those of another hook. */
  readonly variables: Readonly<Record<string, string>>;
  readonly #writes: string;
  readonly #mark: string;

  private constructor(folder: string, others: Readonly<Record<string, string>>) {
    this.#writes = join(folder, "writes-left");
    this.#mark = join(folder, "write-hook-loaded");
    const imported = `--import=${pathToFileURL(join(folder, "write-hook.mjs")).href}`;
    this.variables = {
      ...others,
      NODE_OPTIONS: `${others["NODE_OPTIONS"] ?? process.env["NODE_OPTIONS"] ?? ""} ${imported}`.trim(),
      CRASH_TEST_WRITES: this.#writes,
      CRASH_TEST_WRITES_MARK: this.#mark,
    };
  }

  static async create(folder: string, others: Readonly<Record<string, string>>): Promise<WriteKill> {
    const kill = new WriteKill(folder, others);
    await writeFile(join(folder, "write-hook.mjs"), HOOK);
    return kill;
  }

  /** Whether a tested process has loaded the hook. */
  get isLoaded(): boolean {
    return existsSync(this.#mark);
  }

  /** The process kills itself before this write, counted from now. Dispose to take that back. */
  async before(write: number, pid: number): Promise<AsyncDisposable> {
    const file = `${this.#writes}-${pid}`;
    // A reader must not see half of it.
    await writeFile(`${file}.new`, String(write));
    await rename(`${file}.new`, file);
    return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
  }
}
