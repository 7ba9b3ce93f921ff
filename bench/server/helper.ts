import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { z } from "zod";

/** Longer than anything that is measured. */
const DEADLINE_MS = 180_000;

/** A helper process of the bench, in this folder. It receives a task, reports its result, and ends with its owner. */
export class Helper implements AsyncDisposable {
  readonly #script: string;
  readonly #child: ChildProcess;
  readonly #heard: unknown[] = [];
  #changed = Promise.withResolvers<void>();

  constructor(script: string, task: object, home: string) {
    this.#script = script;
    this.#child = fork(join(import.meta.dirname, script), [JSON.stringify(task)], {
      env: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: home },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    this.#child.on("message", (message) => this.#heard.push(message));
    for (const happening of ["message", "exit"]) this.#child.on(happening, () => this.#change());
  }

  get pid(): number {
    return this.#child.pid!;
  }

  tell(word: string): void {
    this.#child.send(word);
  }

  /** The next thing that it says. */
  async hear<T>(schema: z.ZodType<T>): Promise<T> {
    const late = AbortSignal.timeout(DEADLINE_MS);
    while (this.#heard.length === 0) {
      const { exitCode, signalCode } = this.#child;
      if (exitCode !== null || signalCode !== null) {
        throw new Error(`${this.#script} has ended with ${exitCode ?? signalCode}; its message is above.`);
      }
      if (late.aborted) throw new Error(`${this.#script} said nothing for too long.`);
      const timer = setTimeout(() => this.#change(), DEADLINE_MS);
      await this.#changed.promise;
      clearTimeout(timer);
    }
    return schema.parse(this.#heard.shift());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

/** In a helper: its task. */
export function helperTask<T>(schema: z.ZodType<T>): T {
  process.on("disconnect", () => process.exit());
  return schema.parse(JSON.parse(process.argv[2] ?? ""));
}

/** In a helper: says something to its owner. */
export const say = (message: object): void => void process.send?.(message);

/** In a helper: resolves when its owner gives the word. */
export function told(word: string): Promise<void> {
  return new Promise((resolve) => {
    const listener = (message: unknown): void => {
      if (message !== word) return;
      process.off("message", listener);
      resolve();
    };
    process.on("message", listener);
  });
}
