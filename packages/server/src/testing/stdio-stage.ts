import { once } from "node:events";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import type { Engine } from "@tandem/sessions";
import { createLogger } from "../http/create-logger.ts";
import type { StdioLimits } from "../stdio/stdio-limits.ts";
import { openPrivateWire } from "../stdio/private-wire.ts";
import { serveStdio } from "../stdio/serve-stdio.ts";
import type { Wire } from "../stdio/wire.ts";
import { LineChecker } from "./line-checker.ts";
import { memoryTokens } from "./memory-tokens.ts";

export type Line = Record<string, unknown> & {
  id?: unknown;
  error?: { status: number; message: string; type: string };
};

interface StageOptions {
  reads: boolean;
  limits: Partial<StdioLimits>;
  through: (wire: Wire) => Wire;
  deadlines?: Parameters<typeof serveStdio>[0]["deadlines"];
}

/** A host in the same process; every line is validated against the published schema. */
export class StdioStage {
  readonly lines: Line[] = [];
  readonly stdin = new PassThrough();
  readonly stdout: PassThrough;
  readonly stop = new AbortController();
  readonly served: Promise<void>;
  readonly #checker = new LineChecker();
  readonly #wire: ReturnType<typeof openPrivateWire>;
  #waiting = Promise.withResolvers<void>();
  #id = 0;

  private constructor(engine: Engine, { reads, limits, through, deadlines }: StageOptions) {
    this.stdout = new PassThrough();
    const logger = createLogger({ level: "silent" });
    this.#wire = openPrivateWire({
      engine,
      actor: "test",
      store: { tokens: memoryTokens(), check: async () => undefined },
      logger,
      settings: { checkResponses: true },
    });
    const { stdin, stdout } = this;
    const signal = this.stop.signal;
    const wire = through(this.#wire);
    const parts = { wire, stdin, stdout, version: "1.2.3", engine: "own" as const, signal, logger, limits };
    this.served = serveStdio({ ...parts, ...(deadlines && { deadlines }) });
    if (reads) this.read();
  }

  static async open(
    engine: Engine,
    { greet = true, ...options }: { greet?: boolean } & Partial<StageOptions> = {},
  ): Promise<StdioStage> {
    const stage = new StdioStage(engine, { reads: true, limits: {}, through: (wire) => wire, ...options });
    if (greet) stage.send({ id: "hello", method: "hello", params: { protocol: 1 } });
    if (greet && options.reads !== false) await stage.until((line) => line.id === "hello");
    return stage;
  }

  /** Starts to read the output. */
  read(): void {
    createInterface({ input: this.stdout }).on("line", (text) => {
      const line = JSON.parse(text) as Line;
      this.#checker.received(line);
      this.lines.push(line);
      this.#waiting.resolve();
      this.#waiting = Promise.withResolvers();
    });
  }

  send(line: Line): void {
    this.#checker.sent(line);
    this.stdin.write(`${JSON.stringify(line)}\n`);
  }

  sendWrong(text: string): void {
    this.stdin.write(`${text}\n`);
  }

  /** Sends a request and returns its response. */
  async ask(method: string, params: Record<string, unknown> = {}): Promise<Line> {
    const id = (this.#id += 1);
    this.send({ id, method, params });
    return this.until((line) => line.id === id);
  }

  /** The same with params that are invalid on purpose. */
  async askWrong(method: string, params: Record<string, unknown> = {}): Promise<Line> {
    const id = (this.#id += 1);
    this.sendWrong(JSON.stringify({ id, method, params }));
    return this.until((line) => line.id === id);
  }

  async until(fits: (line: Line) => boolean): Promise<Line> {
    for (let at = 0; ; await this.#waiting.promise) {
      for (; at < this.lines.length; at += 1) if (fits(this.lines[at]!)) return this.lines[at]!;
    }
  }

  eventsOf(stream: unknown): { cursor?: string; event: { type: string } & Record<string, unknown> }[] {
    return this.lines.filter((line) => "event" in line && line["stream"] === stream) as never;
  }

  /** Closes the host's end. */
  async end(): Promise<void> {
    this.stdin.end();
    await this.served;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop.abort();
    this.stdout.resume();
    await this.served;
    await this.#wire[Symbol.asyncDispose]();
    if (!this.stdin.destroyed) await once(this.stdin.destroy(), "close");
  }
}
