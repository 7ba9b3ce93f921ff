import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent, ClientEvent, Delta, Session, SessionEvent } from "@tandem/protocol";

// A client of `tandem stdio`: one file, nothing but Node. Its types come from Tandem's own; without them, they are `unknown`.

/** The version of the protocol that this client speaks. */
const PROTOCOL = 1;
/** How much of a stream is held for whoever reads it slowly, before Tandem has to wait. */
const MOST_WAITING = 1_000;
const START_MS = 60_000;
const CLOSE_MS = 20_000;
/** Tandem says at once that something is cancelled, unless it hangs. */
const CANCEL_MS = 5_000;

/** What some methods answer; all others are `unknown` to the compiler. `tandem stdio --schema` knows all of them. */
export interface Results {
  "agents.create": Agent;
  "agents.retrieve": Agent;
  "sessions.create": Session;
  "sessions.retrieve": Session;
  "sessions.list": { data: Session[]; next_page: string | null };
  "sessions.events.list": { data: SessionEvent[]; next_page: string | null };
  "sessions.events.send": { data: SessionEvent[] };
}
type ResultOf<M extends string> = M extends keyof Results ? Results[M] : unknown;

/** What some streams send. */
export interface Events {
  "sessions.events.stream": SessionEvent | Delta;
  "sessions.threads.events.stream": SessionEvent | Delta;
}
type EventOf<M extends string> = M extends keyof Events ? Events[M] : { type: string };

export type Params = Readonly<Record<string, unknown>>;

export interface StreamItem<E> {
  /** Where to go on: given as `after`. Previews have none. */
  cursor: string | undefined;
  event: E;
}

export interface Hello {
  protocol: number;
  version: string;
  engine: "own" | "server";
  capabilities: { methods: string[]; streams: string[] };
  limits: { line_bytes: number; requests: number; streams: number };
}

interface LineError {
  type: string;
  message: string;
  status: number;
  request_id?: string;
}

interface Line {
  id?: number | null;
  stream?: number;
  hello?: Hello;
  result?: unknown;
  error?: LineError;
  cursor?: string;
  event?: unknown;
  end?: { cursor?: string; error?: LineError };
}

/** A request was refused, or Tandem is gone (`type: "gone"`). */
export class TandemRequestError extends Error {
  readonly type: string;
  readonly status: number;
  readonly requestId: string | undefined;

  constructor({ type, message, status, request_id }: LineError) {
    super(message);
    this.name = "TandemRequestError";
    this.type = type;
    this.status = status;
    this.requestId = request_id;
  }
}

export interface StartOptions {
  /** How Tandem is started. */
  command?: readonly string[];
  /** The project's folder; without it, the nearest one above `cwd` with a tandem.yaml. */
  project?: string;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** What this program is, for the log: `shop/2.1`. */
  name?: string;
}

/** A Tandem of one's own, for as long as it is not closed. */
export class TandemClient implements AsyncDisposable {
  readonly hello: Hello;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #streams = new Map<number, Stream>();
  #lastId = 0;
  #closing: Promise<void> | undefined;
  #isGone = false;

  private constructor(child: ChildProcess, lines: Interface, hello: Hello) {
    this.hello = hello;
    this.#child = child;
    lines.on("line", (text) => {
      const line = parse(text);
      if (line) this.#receive(line);
    });
    lines.once("close", () => this.#lose());
  }

  /** Starts Tandem and agrees on the protocol. */
  static async start({ command = ["tandem"], project, cwd, env, name }: StartOptions = {}): Promise<TandemClient> {
    const [program = "tandem", ...given] = command;
    const args = [...given, ...(project === undefined ? [] : ["--project", project]), "stdio"];
    const child = spawn(program, args, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
    // Whoever writes to a Tandem that is gone learns it from the answer that does not come.
    child.stdin.on("error", () => undefined);
    const lines = createInterface({ input: child.stdout, crlfDelay: Infinity });
    try {
      const first = await firstLine(child, lines);
      if (!first.hello) throw new TandemRequestError(first.error ?? GONE);
      const client = new TandemClient(child, lines, first.hello);
      await client.call("hello", { protocol: PROTOCOL, ...(name !== undefined && { client: name }) });
      return client;
    } catch (error) {
      child.kill("SIGKILL");
      throw error;
    }
  }

  /** One request. Rejects with a `TandemRequestError`; a signal that fires leaves what was done as it is. */
  async call<M extends string>(method: M, params: Params = {}, signal?: AbortSignal): Promise<ResultOf<M>> {
    signal?.throwIfAborted();
    const id = this.#send(method, params);
    const cancel = (): void => void this.#cancel(id);
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      return (await this.#answer(id)) as ResultOf<M>;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Opens a stream; what happens from then on is in it. It ends with a `break`, or with `return()`. */
  async stream<M extends string>(
    method: M,
    params: Params = {},
  ): Promise<AsyncGenerator<StreamItem<EventOf<M>>, void>> {
    const id = this.#send(method, params);
    const stream = new Stream();
    this.#streams.set(id, stream);
    try {
      await this.#answer(id);
    } catch (error) {
      this.#streams.delete(id);
      throw error;
    }
    return this.#read(id, stream) as AsyncGenerator<StreamItem<EventOf<M>>, void>;
  }

  /**
   * Says something in a session, and yields what happens until the agent has done with it. `approve` is asked about every call
   * that needs a person: true allows it, a text denies it and is told to the agent. Without it, all such calls are denied.
   * Questions of the agent's are declined; whoever would answer them uses `stream`.
   */
  async *turn(
    session: string,
    text: string,
    approve: (call: SessionEvent) => boolean | string | Promise<boolean | string> = () => false,
  ): AsyncGenerator<SessionEvent, void> {
    const send = (...events: ClientEvent[]) => this.call("sessions.events.send", { session_id: session, events });
    const stream = await this.stream("sessions.events.stream", { session_id: session });
    await send({ type: "user.message", content: [{ type: "text", text }] });
    const calls = new Map<string, SessionEvent>();
    for await (const { event, cursor } of stream) {
      if (cursor === undefined) continue;
      const happened = event as SessionEvent;
      if ("evaluated_permission" in happened || isQuestion(happened)) calls.set(happened.id, happened);
      yield happened;
      if (happened.type !== "session.status_idle") continue;
      if (happened.stop_reason.type !== "requires_action") return;
      for (const id of happened.stop_reason.event_ids) {
        const call = calls.get(id);
        calls.delete(id);
        if (!call) continue;
        if (isQuestion(call)) {
          const content = [{ type: "text" as const, text: "Nobody is here to answer." }];
          await send({ type: "user.custom_tool_result", custom_tool_use_id: id, is_error: true, content });
          continue;
        }
        const verdict = await approve(call);
        await send({
          type: "user.tool_confirmation",
          tool_use_id: id,
          result: verdict === true ? "allow" : "deny",
          ...(typeof verdict === "string" && { deny_message: verdict }),
        });
      }
    }
  }

  /** Closes Tandem's input, lets it end what it has under way, and sees to it that it is gone. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const hasEnded = (): boolean => this.#child.exitCode !== null || this.#child.signalCode !== null;
    const ended = hasEnded() ? undefined : once(this.#child, "exit");
    this.#child.stdin?.end();
    this.#child.stdout!.resume();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (!ended) return;
      const timer = new AbortController();
      await Promise.race([ended, sleep(CLOSE_MS, undefined, { signal: timer.signal }).catch(() => undefined)]);
      timer.abort();
      if (hasEnded()) return;
      this.#child.kill(signal);
    }
  }

  #send(method: string, params: Params): number {
    if (this.#isGone || this.#closing) throw new TandemRequestError(GONE);
    const id = this.#lastId + 1;
    // What cannot be written throws here, before anybody waits for an answer to it.
    const line = `${JSON.stringify({ id, method, params })}\n`;
    this.#lastId = id;
    this.#pending.set(id, Promise.withResolvers());
    this.#child.stdin!.write(line);
    // Whoever waits for an answer has to be able to get it, whatever else is not being read.
    this.#child.stdout!.resume();
    return id;
  }

  async #answer(id: number): Promise<unknown> {
    try {
      return await this.#pending.get(id)!.promise;
    } finally {
      this.#pending.delete(id);
    }
  }

  /** Resolves when it is cancelled. A Tandem that does not say so in time keeps nobody waiting. */
  async #cancel(id: number): Promise<void> {
    if (this.#isGone || this.#closing) return;
    const cancel = this.#send("cancel", { id });
    const timer = new AbortController();
    const late = sleep(CANCEL_MS, undefined, { signal: timer.signal });
    await Promise.race([this.#answer(cancel), late]).catch(() => undefined);
    timer.abort();
    late.catch(() => undefined);
    this.#pending.delete(cancel);
    this.#pending.get(id)?.reject(new TandemRequestError(CANCELLED));
  }

  async *#read(id: number, stream: Stream): AsyncGenerator<StreamItem<unknown>, void> {
    try {
      for (;;) {
        while (stream.waiting.length > 0) {
          const item = stream.waiting.shift()!;
          if (stream.waiting.length < MOST_WAITING) this.#child.stdout!.resume();
          yield item;
        }
        if (stream.isOver) break;
        await stream.news.promise;
      }
      if (stream.error) throw new TandemRequestError(stream.error);
    } finally {
      const isOpen = !stream.isOver;
      this.#streams.delete(id);
      this.#child.stdout!.resume();
      if (isOpen) await this.#cancel(id);
    }
  }

  #receive(line: Line): void {
    if (line.stream !== undefined) return this.#tell(line.stream, line);
    const waiting = this.#pending.get(line.id ?? -1);
    if (line.error) waiting?.reject(new TandemRequestError(line.error));
    else waiting?.resolve(line.result);
  }

  #tell(id: number, { cursor, event, end }: Line): void {
    const stream = this.#streams.get(id);
    if (!stream) return;
    if (end) Object.assign(stream, { isOver: true, error: end.error });
    else stream.waiting.push({ cursor, event });
    stream.wake();
    if (stream.waiting.length >= MOST_WAITING && this.#pending.size === 0) this.#child.stdout!.pause();
  }

  #lose(): void {
    this.#isGone = true;
    for (const { reject } of this.#pending.values()) reject(new TandemRequestError(GONE));
    for (const stream of this.#streams.values()) {
      if (!stream.isOver && !this.#closing) stream.error = GONE;
      stream.isOver = true;
      stream.wake();
    }
  }
}

/** Undefined where it is none: a Tandem that was killed may have broken off within one. */
function parse(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}

const isQuestion = (event: SessionEvent): boolean =>
  event.type === "agent.custom_tool_use" && event.name === "ask_user_question";

const CANCELLED: LineError = {
  type: "cancelled",
  message: "It was cancelled, which Tandem did not confirm.",
  status: 499,
};
const GONE: LineError = { type: "gone", message: "Tandem has ended.", status: 503 };

class Stream {
  readonly waiting: StreamItem<unknown>[] = [];
  isOver = false;
  error: LineError | undefined;
  news = Promise.withResolvers<void>();

  wake(): void {
    this.news.resolve();
    this.news = Promise.withResolvers();
  }
}

async function firstLine(child: ChildProcess, lines: Interface): Promise<Line> {
  const over = AbortSignal.timeout(START_MS);
  const failed = once(child, "error", { signal: over }).then(([error]): never => {
    throw error as Error;
  });
  failed.catch(() => undefined);
  const ended = once(lines, "close", { signal: over }).then((): Line => ({ error: GONE }));
  ended.catch(() => undefined);
  const first = once(lines, "line", { signal: over }).then(([text]): Line => parse(String(text)) ?? { error: GONE });
  return Promise.race([first, ended, failed]);
}
