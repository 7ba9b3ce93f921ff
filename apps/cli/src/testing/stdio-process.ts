import { stdioSchema } from "@tandem/server";
import { Ajv2020 } from "ajv/dist/2020.js";
import { createInterface } from "node:readline";
import type { Outcome, PipedCommand } from "./open-command.ts";

type Line = Record<string, unknown>;

// Compiled once: the schema of all methods is large.
const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema({ ...stdioSchema(), $id: "stdio" });

function check(definition: string, value: unknown): void {
  const validate = ajv.getSchema(`stdio#/$defs/${definition}`);
  if (!validate) throw new Error(`The schema has no ${definition}.`);
  if (validate(value)) return;
  const errors = JSON.stringify(validate.errors?.slice(0, 3));
  throw new Error(`${definition}: ${errors}\n${JSON.stringify(value).slice(0, 2_000)}`);
}

/** The host of a `tandem stdio` command. Validates its output by the published schema. */
export class StdioProcess {
  readonly lines: Line[] = [];
  readonly outcome: Promise<Outcome>;
  readonly #tandem: PipedCommand;
  /** Schema violations of received lines. */
  readonly faults: string[] = [];
  readonly #methods = new Map<unknown, string>();
  #news = Promise.withResolvers<void>();
  #id = 0;
  #ended: Outcome | undefined;

  constructor(tandem: PipedCommand) {
    this.#tandem = tandem;
    this.outcome = tandem.outcome;
    tandem.stdin.on("error", () => undefined);
    createInterface({ input: tandem.stdout }).on("line", (text) => this.#receive(text));
    void this.#watchEnd();
  }

  static async open(tandem: PipedCommand): Promise<StdioProcess> {
    const host = new StdioProcess(tandem);
    await host.until((line) => "hello" in line);
    await host.ask("hello", { protocol: 1 });
    return host;
  }

  /** Sends a request without waiting for its answer. */
  send(method: string, params: Line = {}): number {
    const id = (this.#id += 1);
    const line = { id, method, params };
    check(`Request.${method}`, line);
    this.#methods.set(id, method);
    this.#tandem.stdin.write(`${JSON.stringify(line)}\n`);
    return id;
  }

  /** Returns the result. Throws on an error response. */
  async ask<T = Line>(method: string, params: Line = {}): Promise<T> {
    const id = this.send(method, params);
    const line = await this.until((one) => one["id"] === id);
    if ("error" in line) throw new Error(JSON.stringify(line["error"]));
    return line["result"] as T;
  }

  async until(fits: (line: Line) => boolean): Promise<Line> {
    for (let at = 0; ; await this.#news.promise) {
      for (; at < this.lines.length; at += 1) if (fits(this.lines[at]!)) return this.lines[at]!;
      if (this.#ended) throw new Error(`tandem stdio has ended: ${this.#ended.stderr}`);
    }
  }

  async event(stream: number, fits: (event: Line) => boolean): Promise<Line> {
    const line = await this.until((one) => one["stream"] === stream && "event" in one && fits(one["event"] as Line));
    return line["event"] as Line;
  }

  /** Closes its input and waits for exit. */
  async end(): Promise<Outcome> {
    this.#tandem.stdin.end();
    return this.outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  async #watchEnd(): Promise<void> {
    this.#ended = await this.outcome;
    this.#wake();
  }

  #receive(text: string): void {
    const line = JSON.parse(text) as Line;
    try {
      check("TandemLine", line);
      if ("result" in line) check(`Result.${this.#methods.get(line["id"])}`, line["result"]);
      if ("event" in line) check(`Event.${this.#methods.get(line["stream"])}`, line["event"]);
    } catch (error) {
      this.faults.push(String(error));
    }
    this.lines.push(line);
    this.#wake();
  }

  #wake(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}
