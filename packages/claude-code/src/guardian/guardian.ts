import { fork, type ChildProcess } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const PING_MS = 250;
const AGAIN_MS = 1_000;

/**
 * A small process beside this one that ends its Claude Code processes, and all that they have started, when it cannot: at
 * once if it has died, and after `patienceMs` if it has been halted. Others may take its sessions over then, on machines
 * from which nobody could end them.
 */
export class Guardian {
  readonly #args: readonly string[];
  readonly #timer: NodeJS.Timeout;
  #child: ChildProcess;
  #isOver = false;

  /** `home` is where the ledgers of processes are: its own, and those of tenants. */
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
    // Halves the time to start, where our own process has a compile cache.
    const compileCache = getCompileCacheDir();
    const child = fork(fileURLToPath(script), this.#args, {
      // What is typed on a terminal is not meant for it.
      detached: true,
      env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: compileCache && dirname(compileCache) },
      execArgv: ["--no-warnings"],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.on("error", () => {});
    // It may be killed itself, by whoever looks for memory.
    child.once("exit", () => setTimeout(() => this.#again(), AGAIN_MS).unref());
    child.unref();
    child.channel?.unref();
    return child;
  }

  #again(): void {
    if (!this.#isOver) this.#child = this.#start();
  }

  #ping(): void {
    if (this.#child.connected) this.#child.send("alive", () => {});
  }
}
