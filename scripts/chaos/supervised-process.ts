import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { startUp, type UpProcess } from "../../apps/cli/src/testing/session-machine.ts";

/** The restart delay of a supervisor: long enough for others to notice, but short. */
const RESTART_MS = 300;
const START_MS = 180_000;

/** One process of a fleet with its supervisor. */
export class SupervisedProcess {
  readonly name: string;
  readonly isServer: boolean;
  readonly home: string;
  readonly #start: (tandem: string | undefined) => ChildProcess;
  /** The build that the next start uses; undefined for this one. */
  #tandem: string | undefined;
  /** Unexpected exits with their last output. */
  readonly crashes: string[] = [];
  /** Standard error of all its runs. */
  words = "";
  #child: ChildProcess | undefined;
  #running: UpProcess | undefined;
  #isRetired = false;
  #wasKilled = false;
  #life: Promise<void> | undefined;
  #replacement: PromiseWithResolvers<void> | undefined;

  constructor(
    { name, isServer, home, tandem }: { name: string; isServer: boolean; home: string; tandem?: string | undefined },
    start: (tandem: string | undefined) => ChildProcess,
  ) {
    this.name = name;
    this.isServer = isServer;
    this.home = home;
    this.#tandem = tandem;
    this.#start = start;
  }

  /** The pid of the current process, ready or not. */
  get pid(): number | undefined {
    const child = this.#child;
    return child && child.exitCode === null && child.signalCode === null ? child.pid : undefined;
  }

  /** Set once it is ready. */
  get up(): UpProcess | undefined {
    return this.pid === undefined ? undefined : this.#running;
  }

  /** Keeps it running until it is retired. Resolves when it is first ready. */
  async supervise(): Promise<UpProcess> {
    const first = Promise.withResolvers<UpProcess>();
    this.#life = this.#live(first);
    return first.promise;
  }

  /** Kills it without warning, like a power cut. It is restarted. */
  kill(): boolean {
    if (this.pid === undefined) return false;
    this.#wasKilled = true;
    this.#child!.kill("SIGKILL");
    return true;
  }

  /** Stops it gracefully and starts another build in its place. Resolves when that is ready. */
  async replace(tandem: string | undefined): Promise<void> {
    this.#tandem = tandem;
    this.#replacement = Promise.withResolvers();
    this.#wasKilled = true;
    const { code } = await this.#running!.stop("SIGTERM");
    if (code !== 0) this.crashes.push(`${this.name} was stopped and ended with ${code}`);
    await this.#replacement.promise;
  }

  /** Stops it permanently. */
  async retire(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    this.#isRetired = true;
    if (this.pid !== undefined) this.#child!.kill(signal);
    await this.#life;
  }

  async #live(first: PromiseWithResolvers<UpProcess>): Promise<void> {
    while (!this.#isRetired) {
      this.#wasKilled = false;
      this.#running = undefined;
      this.#child = this.#start(this.#tandem);
      const child = this.#child;
      const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
      child.stderr?.on("data", (chunk: Buffer) => (this.words += chunk.toString()));
      const late = setTimeout(() => child.kill("SIGKILL"), START_MS);
      const from = this.words.length;
      try {
        this.#running = await startUp(child);
        first.resolve(this.#running);
        this.#replacement?.resolve();
      } catch (error) {
        // Killed during its start, or a failure that is reported below.
        if (!this.#wasKilled && !this.#isRetired) first.reject(error);
      } finally {
        clearTimeout(late);
      }
      await ended;
      const last = this.words.slice(from);
      // A process that finds no database exits with an error; the supervisor restarts it.
      const foundNothing = this.#running === undefined && last.includes('"code":"unavailable"');
      if (!this.#wasKilled && !this.#isRetired && !foundNothing) {
        this.crashes.push(
          `${this.name} ended by itself (${child.exitCode ?? child.signalCode}): ${last.slice(-2_000)}`,
        );
      }
      if (!this.#isRetired) await sleep(RESTART_MS);
    }
  }
}
