import { fork, type ChildProcess } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { ConnectionError } from "../connection-error.ts";
import type { Pooled } from "../pool.ts";
import { CONNECT_TIMEOUT_MS } from "../query-limits.ts";
import type { Reply, Request } from "./reader.ts";

/**
 * A process that has a file open. Not a thread: a long SQLite query in a thread cannot be aborted, and a crash or
 * memory growth of a library would affect the host. A process can be killed.
 */
export class ReaderProcess implements Pooled {
  readonly #child: ChildProcess;
  #waiting: PromiseWithResolvers<Reply> | undefined;

  private constructor(child: URL, path: string) {
    // Halves the start time if this process has a compile cache.
    const compileCache = getCompileCacheDir();
    this.#child = fork(fileURLToPath(child), [path, String(process.pid)], {
      detached: true,
      env: compileCache ? { NODE_COMPILE_CACHE: dirname(compileCache) } : {},
      execArgv: ["--no-warnings"],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#child.on("message", (reply: Reply) => this.#settle((waiting) => waiting.resolve(reply)));
    const gone = (cause?: unknown): void => this.#settle((waiting) => waiting.reject(ended(cause)));
    this.#child.on("error", gone);
    this.#child.on("exit", () => gone());
  }

  static async open(child: URL, path: string): Promise<ReaderProcess> {
    const made = new ReaderProcess(child, path);
    const timer = setTimeout(() => made.end(), CONNECT_TIMEOUT_MS);
    try {
      await made.#reply();
      return made;
    } catch (error) {
      made.end();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  get isAlive(): boolean {
    return this.#child.connected && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  ask(request: Request): Promise<Reply> {
    if (!this.isAlive) throw ended();
    const reply = this.#reply();
    this.#child.send(request, (error) => error && this.#settle((waiting) => waiting.reject(ended(error))));
    return reply;
  }

  end(): void {
    this.#child.kill("SIGKILL");
  }

  /** The child keeps this process alive only while a request is pending. */
  async #reply(): Promise<Reply> {
    this.#waiting = Promise.withResolvers();
    this.#child.ref();
    this.#child.channel?.ref();
    const reply = await this.#waiting.promise;
    if (reply.type === "failed") throw new ConnectionError(reply.code, reply.message, { fix: reply.fix });
    return reply;
  }

  #settle(how: (waiting: PromiseWithResolvers<Reply>) => void): void {
    this.#child.unref();
    this.#child.channel?.unref();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) how(waiting);
  }
}

function ended(cause?: unknown): ConnectionError {
  return new ConnectionError("query_failed", "The process that reads the file has ended.", {
    fix: "Try again; if it happens again, the query may need more memory than there is.",
    cause,
  });
}
