import { RequestError, stdio } from "@tandem/protocol";
import { z } from "zod";
import { describeIssues } from "../http/request/describe-issues.ts";
import { isNestedDeeper } from "../http/request/is-nested-deeper.ts";
import { isResumable, type Route } from "../http/route.ts";
import { WireError } from "../http/wire-error.ts";
import { readAnswer } from "./answer.ts";
import { cancelled, toLineError, unreachable } from "./line-error.ts";
import type { StdioLimits } from "./stdio-limits.ts";
import type { LineWriter } from "./line-writer.ts";
import { findMethod } from "./methods.ts";
import { Subscription } from "./subscription.ts";
import { toRequest } from "./to-request.ts";
import type { Wire } from "./wire.ts";

/** The API's own nesting limit, plus the levels of the line. */
const DEEPEST = 210;

const utf8 = new TextDecoder("utf-8", { fatal: true });

interface Open {
  kind: "request" | "stream";
  stop: AbortController;
  done: Promise<void>;
}

interface HostDependencies {
  wire: Wire;
  writer: LineWriter;
  limits: StdioLimits;
  onHello: (client: string | undefined) => void;
}

/** One host with its open requests and streams. Every request gets exactly one response. */
export class StdioHost {
  readonly #dependencies: HostDependencies;
  readonly #open = new Map<stdio.RequestId, Open>();
  #isGreeted = false;

  constructor(dependencies: HostDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Handles a line; `undefined` is one over the limit. Resolves when the next line can be read, not when it is
   * answered.
   */
  async receive(line: Buffer | undefined): Promise<void> {
    if (line?.length === 0) return;
    let id: stdio.RequestId | null = null;
    try {
      const raw = parseLine(line, this.#dependencies.limits);
      id = idOf(raw);
      const request = check(stdio.requestLine, raw, "The line");
      if (this.#open.has(request.id)) {
        throw new RequestError("conflict", `The id ${JSON.stringify(request.id)} is that of something still open.`);
      }
      await this.#begin(request.id, request.method, request.params ?? {});
    } catch (error) {
      await this.#refuse(id, toLineError(error));
    }
  }

  /** Waits for requests until the deadline, then aborts the rest; streams end at once. */
  async close(deadlineMs: number): Promise<void> {
    const all = (kind: Open["kind"]) => [...this.#open.values()].filter((open) => open.kind === kind);
    for (const { stop } of all("stream")) stop.abort();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, deadlineMs);
    const settled = Promise.allSettled([...this.#open.values()].map(({ done }) => done));
    await Promise.race([settled, late]);
    clearTimeout(timer);
    for (const { stop } of this.#open.values()) stop.abort();
  }

  async #begin(id: stdio.RequestId, method: string, params: Record<string, unknown>): Promise<void> {
    if (method === "hello") return this.#greet(id, params);
    if (!this.#isGreeted) {
      throw new RequestError("invalid_request", "The host has not said which protocol it speaks.", {
        fix: `Send {"id":0,"method":"hello","params":{"protocol":${stdio.PROTOCOL}}} first.`,
      });
    }
    if (method === "cancel") return this.#cancel(id, check(stdio.cancelParams, params, "params").id);
    const route = findMethod(method);
    const kind = route.kind === "stream" ? "stream" : "request";
    this.#wantRoom(kind);
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#dependencies.writer.closed]);
    const work = kind === "stream" ? this.#stream(id, route, params, signal) : this.#ask(id, route, params, signal);
    const done = work
      .catch((error: unknown) => this.#refuse(id, toLineError(error)))
      .finally(() => this.#open.delete(id));
    this.#open.set(id, { kind, stop, done });
  }

  async #greet(id: stdio.RequestId, params: unknown): Promise<void> {
    const { protocol, client } = check(stdio.helloParams, params, "params");
    if (protocol !== stdio.PROTOCOL) {
      return this.#refuse(id, {
        type: "protocol_mismatch",
        message: `The host speaks protocol ${protocol}, and this Tandem speaks ${stdio.PROTOCOL}. Use a host and a Tandem that fit.`,
        status: 400,
        details: { protocols: [stdio.PROTOCOL] },
      });
    }
    this.#isGreeted = true;
    this.#dependencies.onHello(client);
    await this.#dependencies.writer.write(JSON.stringify({ id, result: { protocol } }));
  }

  /** The cancelled request or stream reports its end before this is answered. */
  async #cancel(id: stdio.RequestId, what: stdio.RequestId): Promise<void> {
    const open = this.#open.get(what);
    open?.stop.abort();
    const done = (open?.done ?? Promise.resolve()).then(() =>
      this.#dependencies.writer.write(JSON.stringify({ id, result: { cancelled: open !== undefined } })),
    );
    // Not awaited: the host must be read while the response is written.
    this.#open.set(id, { kind: "request", stop: new AbortController(), done });
    void done.finally(() => this.#open.delete(id));
  }

  async #ask(id: stdio.RequestId, route: Route, params: Record<string, unknown>, signal: AbortSignal): Promise<void> {
    const request = await toRequest(route, params);
    const line = await this.#dependencies.wire
      .send({ ...request, signal })
      .then((answer) =>
        readAnswer(answer, { id, limits: this.#dependencies.limits, isFile: route.kind === "download" }),
      )
      .catch((error: unknown) =>
        JSON.stringify({ id, error: signal.aborted ? cancelled() : toLineError(unreachable(error)) }),
      );
    await this.#dependencies.writer.write(line);
  }

  async #stream(
    id: stdio.RequestId,
    route: Route,
    params: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<void> {
    const parts = {
      wire: this.#dependencies.wire,
      writer: this.#dependencies.writer,
      limits: this.#dependencies.limits,
      signal,
    };
    const request = await toRequest(route, params);
    await new Subscription(id, { ...parts, request, resumable: isResumable(route) }).run();
  }

  #wantRoom(kind: Open["kind"]): void {
    const count = [...this.#open.values()].filter((open) => open.kind === kind).length;
    const most = this.#dependencies.limits[kind === "stream" ? "streams" : "requests"];
    if (count < most) return;
    throw new WireError("too_many", `${count} ${kind}s are open, which is as many as there may be.`, {
      fix: kind === "stream" ? "Cancel some of them." : "Wait for an answer first.",
    });
  }

  #refuse(id: stdio.RequestId | null, error: stdio.LineError): Promise<void> {
    return this.#dependencies.writer.write(JSON.stringify({ id, error }));
  }
}

function parseLine(line: Buffer | undefined, { lineBytes }: StdioLimits): unknown {
  if (!line) throw new RequestError("too_large", `The line is longer than ${Math.floor(lineBytes / 1024)} KiB.`);
  if (isNestedDeeper(line, DEEPEST)) {
    throw new RequestError("invalid_request", `The line is nested deeper than ${DEEPEST} levels.`);
  }
  try {
    return JSON.parse(utf8.decode(line)) as unknown;
  } catch (cause) {
    throw new RequestError("invalid_request", "The line is not valid JSON.", { cause });
  }
}

/** Lets even an invalid request get a response with its id. */
function idOf(raw: unknown): stdio.RequestId | null {
  const parsed = z.object({ id: stdio.requestLine.shape.id }).safeParse(raw);
  return parsed.success ? parsed.data.id : null;
}

function check<T extends z.ZodType>(schema: T, raw: unknown, place: string): z.output<T> {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const words = describeIssues(parsed.error.issues, { noun: "field" });
  throw new RequestError("invalid_request", words.replace(/^The body/, place));
}
