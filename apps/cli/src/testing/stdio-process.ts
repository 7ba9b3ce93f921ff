import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { stdioSchema } from "@tandem/server";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { outcomeOf, type Outcome } from "./run-tandem.ts";

type Line = Record<string, unknown>;

// Remove the unknown format, which Ajv warns about. `contentEncoding` says the same.
const schema = JSON.parse(JSON.stringify(stdioSchema()).replaceAll('"format":"base64",', "")) as Line;
const ajv = new AjvJsonSchemaValidator();
const validators = new Map<string, ReturnType<AjvJsonSchemaValidator["getValidator"]>>();

function check(definition: string, value: unknown): void {
  const validate =
    validators.get(definition) ?? ajv.getValidator({ ...schema, anyOf: [{ $ref: `#/$defs/${definition}` }] });
  validators.set(definition, validate);
  const { valid, errorMessage } = validate(value);
  if (!valid) throw new Error(`${definition}: ${errorMessage}\n${JSON.stringify(value).slice(0, 2_000)}`);
}

/** A `tandem stdio` process. Validates its output by the published schema. */
export class StdioProcess {
  readonly lines: Line[] = [];
  readonly child: ChildProcess;
  readonly outcome: Promise<Outcome>;
  /** Schema violations of received lines. */
  readonly faults: string[] = [];
  readonly #methods = new Map<unknown, string>();
  #news = Promise.withResolvers<void>();
  #id = 0;

  constructor(child: ChildProcess) {
    this.child = child;
    this.outcome = outcomeOf(child);
    child.stdin!.on("error", () => undefined);
    createInterface({ input: child.stdout! }).on("line", (text) => this.#receive(text));
    void this.outcome.then(() => this.#wake());
  }

  static async open(child: ChildProcess): Promise<StdioProcess> {
    const host = new StdioProcess(child);
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
    this.child.stdin!.write(`${JSON.stringify(line)}\n`);
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
      if (this.child.exitCode !== null) throw new Error(`tandem stdio has ended: ${(await this.outcome).stderr}`);
    }
  }

  async event(stream: number, fits: (event: Line) => boolean): Promise<Line> {
    const line = await this.until((one) => one["stream"] === stream && "event" in one && fits(one["event"] as Line));
    return line["event"] as Line;
  }

  /** Closes its input and waits for exit. */
  async end(): Promise<Outcome> {
    this.child.stdin!.end();
    return this.outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill("SIGKILL");
    await once(this.child, "exit");
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
