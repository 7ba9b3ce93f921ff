import { fork, type ChildProcess } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { HOST_MARKER } from "./process-tree.ts";

const PING_MS = 250;
const RESTART_MS = 1_000;

let shared: Guardian | undefined;

/** Makes sure that the processes in a ledger end if this process dies. For machines without pid namespaces. */
export function guard(ledgerFolder: string): void {
  shared ??= new Guardian();
  shared.watch(ledgerFolder);
}

/**
 * A watchdog process that kills the child processes of this one, and their descendants, when this one cannot: at once if
 * it has died, after `patienceMs` if it is suspended. Another worker may take over its sessions then, from a machine that
 * cannot kill these processes.
 */
export class Guardian {
  readonly #args: readonly string[];
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #folders = new Set<string>();
  #child: ChildProcess;
  #isOver = false;

  /** `home` holds process ledgers: its own and those of tenants. */
  constructor(home = "", patienceMs = Infinity) {
    this.#args = [home, String(process.pid), String(patienceMs), HOST_MARKER];
    this.#child = this.#start();
    if (patienceMs < Infinity) this.#timer = setInterval(() => this.#send({}), PING_MS).unref();
  }

  /** Adds a ledger. */
  watch(folder: string): void {
    if (this.#folders.has(folder)) return;
    this.#folders.add(folder);
    this.#send({ folder });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#child.kill("SIGKILL");
  }

  #start(): ChildProcess {
    const script = new URL("./guardian-process.ts", import.meta.url);
    // Halves the start time if this process has a compile cache.
    const compileCache = getCompileCacheDir();
    const child = fork(fileURLToPath(script), this.#args, {
      // Own process group: Ctrl-C in the terminal must not kill it.
      detached: true,
      env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: compileCache && dirname(compileCache) },
      execArgv: ["--no-warnings"],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.on("error", () => {});
    // It may be killed itself, for example by the OOM killer: restart it.
    child.once("exit", () => setTimeout(() => this.#restart(), RESTART_MS).unref());
    child.unref();
    child.channel?.unref();
    return child;
  }

  #restart(): void {
    if (this.#isOver) return;
    this.#child = this.#start();
    for (const folder of this.#folders) this.#send({ folder });
  }

  /** Every message is also a heartbeat. */
  #send(message: { folder?: string }): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }
}
