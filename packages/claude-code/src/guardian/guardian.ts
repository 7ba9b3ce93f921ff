import { fork, type ChildProcess } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const PING_MS = 250;
const RESTART_MS = 1_000;

/**
 * A watchdog process that kills the Claude Code processes of this one, and their children, when this one cannot: at
 * once if it has died, after `patienceMs` if it is suspended. Another worker may take over its sessions then, from a
 * machine that cannot kill these processes.
 */
export class Guardian {
  readonly #args: readonly string[];
  readonly #timer: NodeJS.Timeout;
  #child: ChildProcess;
  #isOver = false;

  /** `home` holds the process ledgers: its own and those of tenants. */
  constructor(home: string, patienceMs: number) {
    this.#args = [home, String(process.pid), String(patienceMs)];
    this.#child = this.#start();
    this.#timer = setInterval(() => this.#ping(), PING_MS).unref();
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
    if (!this.#isOver) this.#child = this.#start();
  }

  #ping(): void {
    if (this.#child.connected) this.#child.send("alive", () => {});
  }
}
