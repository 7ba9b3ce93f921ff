import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

const PING_MS = 250;

/**
 * A small process beside this one that ends its Claude Code processes, and all that they have started, when it cannot: at
 * once if it has died, and after `patienceMs` if it has been halted. Others may take its sessions over then, on machines
 * from which nobody could end them.
 */
export class Guardian {
  readonly #child: ChildProcess;
  readonly #timer: NodeJS.Timeout;

  /** `home` is where the ledgers of processes are: its own, and those of tenants. */
  constructor(home: string, patienceMs: number) {
    const script = new URL("./guardian-process.ts", import.meta.url);
    this.#child = fork(fileURLToPath(script), [home, String(process.pid), String(patienceMs)], {
      // What is typed on a terminal is not meant for it.
      detached: true,
      env: { PATH: process.env["PATH"] },
      execArgv: ["--no-warnings"],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#child.on("error", () => {});
    this.#child.unref();
    this.#child.channel?.unref();
    this.#timer = setInterval(() => this.#ping(), PING_MS).unref();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#child.kill("SIGKILL");
  }

  #ping(): void {
    if (this.#child.connected) this.#child.send("alive", () => {});
  }
}
