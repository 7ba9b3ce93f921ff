import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { ClientEvent, FrameOf, SessionEvent, stdio, StreamName } from "@tandem/protocol";
import { ApiError } from "../api-error.ts";
import type { StdioMethod, StdioParams, StdioResult } from "./stdio-params.ts";

/** The version of the protocol that this client speaks. */
const PROTOCOL = 1;
/** Unread items of a stream that are buffered. With more, reading pauses, so that Tandem waits. */
const MAX_BUFFERED = 1_000;
const START_MS = 60_000;
const CLOSE_MS = 20_000;
/** Tandem confirms a cancellation at once, unless it hangs. */
const CANCEL_MS = 5_000;

/** The first line of Tandem. */
export type Hello = stdio.HelloLine["hello"];

export interface StreamItem<Event> {
  /** To resume, pass it as `after`. Previews have none. */
  cursor: string | undefined;
  event: Event;
}

export interface StartOptions {
  /** How Tandem is started. */
  command?: readonly string[];
  /** The project's folder; without it, the nearest one above `cwd` with a tandem.yaml. */
  project?: string;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** The name of this program in the log: `shop/2.1`. */
  name?: string;
}

/** Optional if no param is required. */
type Arguments<Params> = {} extends Params
  ? [params?: Params, signal?: AbortSignal]
  : [params: Params, signal?: AbortSignal];

/** A client that runs `tandem stdio` as a child process. Every error is an `ApiError`; `gone` if Tandem has ended. */
export class TandemClient implements AsyncDisposable {
  readonly hello: Hello;
  readonly #child: ChildProcess;
  readonly #pending = new Map<stdio.RequestId | null, PromiseWithResolvers<unknown>>();
  readonly #streams = new Map<stdio.RequestId, BufferedStream>();
  #lastId = 0;
  #closing: Promise<void> | undefined;
  #isGone = false;

  private constructor(child: ChildProcess, lines: Interface, hello: Hello) {
    this.hello = hello;
    this.#child = child;
    lines.on("line", (text) => {
      const line = parseLine(text);
      if (line) this.#receive(line);
    });
    lines.once("close", () => this.#handleEnd());
  }

  /** Starts Tandem and agrees on the protocol. */
  static async start({ command = ["tandem"], project, cwd, env, name }: StartOptions = {}): Promise<TandemClient> {
    const [program = "tandem", ...given] = command;
    const args = [...given, ...(project === undefined ? [] : ["--project", project]), "stdio"];
    const child = spawn(program, args, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
    // A write to a Tandem that has ended fails; the request itself is rejected when the output closes.
    child.stdin.on("error", () => undefined);
    const lines = createInterface({ input: child.stdout, crlfDelay: Infinity });
    try {
      const first = await firstLine(child, lines);
      if (!first || !("hello" in first)) throw first && "error" in first ? toApiError(first.error) : gone();
      const client = new TandemClient(child, lines, first.hello);
      await client.#answer(client.#send("hello", { protocol: PROTOCOL, ...(name !== undefined && { client: name }) }));
      return client;
    } catch (error) {
      child.kill("SIGKILL");
      throw error;
    }
  }

  /** One request. A signal cancels the wait; it does not undo work that was done. */
  async call<Name extends StdioMethod>(
    method: Name,
    ...[params, signal]: Arguments<StdioParams<Name>>
  ): Promise<StdioResult<Name>> {
    signal?.throwIfAborted();
    const id = this.#send(method, params);
    const cancel = (): void => void this.#cancel(id);
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      return (await this.#answer(id)) as StdioResult<Name>;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Opens a stream of the events from now on. A `break` or `return()` ends it. */
  async stream<Name extends StreamName>(
    method: Name,
    ...[params]: Arguments<StdioParams<Name>>
  ): Promise<AsyncGenerator<StreamItem<FrameOf<Name>>, void>> {
    const id = this.#send(method, params);
    const stream = new BufferedStream();
    this.#streams.set(id, stream);
    try {
      await this.#answer(id);
    } catch (error) {
      this.#streams.delete(id);
      throw error;
    }
    return this.#read(id, stream) as AsyncGenerator<StreamItem<FrameOf<Name>>, void>;
  }

  /**
   * Sends a message to a session and yields events until the agent's turn ends. `approve` is called for every tool call that
   * needs approval: true allows it; a text denies it and is the reason that the agent sees. Without `approve`, all such
   * calls are denied. The agent's questions are declined; to answer them, use `stream`.
   */
  async *turn(
    session: string,
    text: string,
    approve: (call: SessionEvent) => boolean | string | Promise<boolean | string> = () => false,
  ): AsyncGenerator<SessionEvent, void> {
    const send = (event: ClientEvent) => this.call("sessions.events.send", { session_id: session, events: [event] });
    const stream = await this.stream("sessions.events.stream", { session_id: session, tandem: "true" });
    await send({ type: "user.message", content: [{ type: "text", text }] });
    const calls = new Map<string, SessionEvent>();
    for await (const { event, cursor } of stream) {
      if (cursor === undefined || !("id" in event)) continue;
      if ("evaluated_permission" in event || isQuestion(event)) calls.set(event.id, event);
      yield event;
      if (event.type !== "session.status_idle") continue;
      if (event.stop_reason.type !== "requires_action") return;
      for (const id of event.stop_reason.event_ids) {
        const call = calls.get(id);
        calls.delete(id);
        if (!call) continue;
        if (isQuestion(call)) {
          const content = [{ type: "text" as const, text: "No person is connected to answer." }];
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

  /** Closes Tandem's input, waits until it has ended its work, and kills it if it does not. */
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

  #send(method: string, params: object = {}): number {
    if (this.#isGone || this.#closing) throw gone();
    const id = this.#lastId + 1;
    // Params that are no JSON throw here, before an answer is awaited.
    const line = `${JSON.stringify({ id, method, params })}\n`;
    this.#lastId = id;
    this.#pending.set(id, Promise.withResolvers());
    this.#child.stdin!.write(line);
    // The answer must arrive even while an unread stream has paused the output.
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

  /** Resolves when Tandem confirms the cancellation, or after a timeout. */
  async #cancel(id: number): Promise<void> {
    if (this.#isGone || this.#closing) return;
    const cancel = this.#send("cancel", { id });
    const timer = new AbortController();
    const late = sleep(CANCEL_MS, undefined, { signal: timer.signal });
    await Promise.race([this.#answer(cancel), late]).catch(() => undefined);
    timer.abort();
    late.catch(() => undefined);
    this.#pending.delete(cancel);
    this.#pending.get(id)?.reject(new ApiError(499, "cancelled", "It was cancelled, which Tandem did not confirm."));
  }

  async *#read(id: number, stream: BufferedStream): AsyncGenerator<StreamItem<unknown>, void> {
    try {
      for (;;) {
        while (stream.items.length > 0) {
          const item = stream.items.shift()!;
          if (stream.items.length < MAX_BUFFERED) this.#child.stdout!.resume();
          yield item;
        }
        if (stream.isOver) break;
        await stream.changed.promise;
      }
      if (stream.error) throw stream.error;
    } finally {
      const isOpen = !stream.isOver;
      this.#streams.delete(id);
      this.#child.stdout!.resume();
      if (isOpen) await this.#cancel(id);
    }
  }

  #receive(line: stdio.StdioLine): void {
    if ("stream" in line) return this.#buffer(line);
    if ("error" in line) this.#pending.get(line.id)?.reject(toApiError(line.error));
    else if ("id" in line) this.#pending.get(line.id)?.resolve(line.result);
  }

  #buffer(line: stdio.StreamLine): void {
    const stream = this.#streams.get(line.stream);
    if (!stream) return;
    if ("end" in line) stream.end(line.end.error && toApiError(line.end.error));
    else stream.push({ cursor: line.cursor, event: line.event });
    if (stream.items.length >= MAX_BUFFERED && this.#pending.size === 0) this.#child.stdout!.pause();
  }

  #handleEnd(): void {
    this.#isGone = true;
    for (const { reject } of this.#pending.values()) reject(gone());
    for (const stream of this.#streams.values()) if (!stream.isOver) stream.end(this.#closing ? undefined : gone());
  }
}

class BufferedStream {
  readonly items: StreamItem<unknown>[] = [];
  isOver = false;
  error: ApiError | undefined;
  changed = Promise.withResolvers<void>();

  push(item: StreamItem<unknown>): void {
    this.items.push(item);
    this.#wake();
  }

  end(error: ApiError | undefined): void {
    this.isOver = true;
    this.error = error;
    this.#wake();
  }

  #wake(): void {
    this.changed.resolve();
    this.changed = Promise.withResolvers();
  }
}

const isQuestion = (event: SessionEvent): boolean =>
  event.type === "agent.custom_tool_use" && event.name === "ask_user_question";

/** Undefined if Tandem ends without a whole line. */
async function firstLine(child: ChildProcess, lines: Interface): Promise<stdio.StdioLine | undefined> {
  const timeout = AbortSignal.timeout(START_MS);
  const failed = once(child, "error", { signal: timeout }).then(([error]): never => {
    throw error as Error;
  });
  failed.catch(() => undefined);
  const ended = once(lines, "close", { signal: timeout }).then(() => undefined);
  ended.catch(() => undefined);
  const first = once(lines, "line", { signal: timeout }).then(([text]) => parseLine(String(text)));
  return Promise.race([first, ended, failed]);
}

/** Undefined for a truncated line: a Tandem that is killed may stop in the middle of one. */
function parseLine(text: string): stdio.StdioLine | undefined {
  try {
    return JSON.parse(text) as stdio.StdioLine;
  } catch {
    return undefined;
  }
}

const toApiError = ({ status, type, message, fix, details, request_id: requestId }: stdio.LineError): ApiError =>
  new ApiError(status, type, message, { code: details?.error_code, fix, requestId });

const gone = (): ApiError => new ApiError(503, "gone", "Tandem has ended.");
