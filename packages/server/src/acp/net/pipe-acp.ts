import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { AnyMessage } from "@agentclientprotocol/sdk";
import { parseJson, TandemError } from "@tandem/protocol";
import { z } from "zod";
import { kindOf, readMessage, rpcError } from "./rpc-message.ts";
import { ServerLine, type ServerAddress } from "./server-line.ts";

/** JSON-RPC's code for internal errors. */
const INTERNAL = -32_603;

interface Pipe {
  input: Readable;
  output: Writable;
  /** Locates the server; rejects if none is running. Called again after a disconnect. */
  find: () => Promise<ServerAddress>;
  signal: AbortSignal;
}

const CANCEL = "$/cancel_request";
const cancelling = z.looseObject({ requestId: z.union([z.string(), z.number()]) });
const opening = z.looseObject({ cwd: z.string() });

/**
 * Connects an editor's ACP lines to a server's WebSocket. When the server goes away, unanswered requests fail. The next
 * request looks for a server again and resumes the editor's open sessions there. Resolves when the editor closes its
 * side.
 */
export async function pipeAcp({ input, output, find, signal }: Pipe): Promise<void> {
  const pipe = new AcpPipe(output, find);
  const lines = createInterface({ input, crlfDelay: Infinity });
  const stop = (): void => lines.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (!signal.aborted) for await (const line of lines) if (line.trim() !== "") await pipe.take(line);
  } finally {
    signal.removeEventListener("abort", stop);
    await pipe.close();
  }
}

class AcpPipe {
  readonly #output: Writable;
  readonly #find: Pipe["find"];
  #line: ServerLine | undefined;
  /** The editor's `initialize`, repeated to the next server. */
  #initialize: AnyMessage | undefined;
  /** The editor's unanswered requests. */
  readonly #asked = new Map<string, AnyMessage>();
  /** The server's unanswered requests, by the id that the editor sees. Answers to a previous server are dropped. */
  readonly #askedBack = new Map<string, string | number>();
  /** The editor's open sessions, with the params that opened them. */
  readonly #sessions = new Map<string, object>();
  #epoch = 0;
  #own = 0;

  constructor(output: Writable, find: Pipe["find"]) {
    this.#output = output;
    this.#find = find;
  }

  async take(text: string): Promise<void> {
    const message = readMessage(parseJson(text));
    if (!message) {
      const what = "This is not a message of JSON-RPC; batches are not supported.";
      return this.#write(rpcError({ code: -32_600, message: what }));
    }
    const kind = kindOf(message);
    if (kind.type === "response") return this.#answer(message);
    if (kind.type === "request") this.#asked.set(kind.key, message);
    if (kind.type === "request" && kind.method === "initialize") this.#initialize = message;
    try {
      // Reconnect only for requests: a new server has no use for notifications to the previous one.
      if (kind.type === "request") await this.#connect(kind.method === "initialize");
      await this.#line?.send(message);
    } catch (error) {
      if (kind.type === "request" && this.#asked.delete(kind.key)) this.#refuse(message, error);
    }
  }

  async close(): Promise<void> {
    await this.#line?.close();
  }

  async #connect(isBeginning: boolean): Promise<void> {
    if (this.#line) return;
    this.#epoch += 1;
    const place = await this.#find();
    const line = await ServerLine.open(place, {
      onMessage: (message) => this.#give(message),
      onEnd: (reason) => this.#lose(line, reason),
    });
    if (!isBeginning) {
      await this.#again(line).catch(async (error: unknown) => {
        await line.close();
        throw error;
      });
    }
    this.#line = line;
  }

  /** Brings a new server to the state of the previous one. */
  async #again(line: ServerLine): Promise<void> {
    if (this.#initialize && "params" in this.#initialize) {
      await line.ask(this.#ownId(), "initialize", this.#initialize.params);
    }
    for (const [sessionId, params] of this.#sessions) {
      // A session that fails to resume is reported when the editor uses it.
      await line.ask(this.#ownId(), "session/resume", { ...params, sessionId }).catch(() => undefined);
    }
  }

  #ownId(): string {
    this.#own += 1;
    return `tandem-pipe-${this.#own}`;
  }

  /** Renumbers the server's requests: ids of a new server may repeat, and the editor must not confuse them. */
  #give(message: AnyMessage): void {
    const kind = kindOf(message);
    if (kind.type === "request" && "id" in message && message.id !== null) {
      const id = `${this.#epoch}.${message.id}`;
      this.#askedBack.set(id, message.id);
      return this.#write({ ...message, id });
    }
    if (kind.type === "notification" && kind.method === CANCEL && "params" in message) {
      const { success, data } = cancelling.safeParse(message.params);
      if (success)
        return this.#write({ ...message, params: { ...data, requestId: `${this.#epoch}.${data.requestId}` } });
    }
    if (kind.type === "response" && kind.key !== undefined) {
      const question = this.#asked.get(kind.key);
      this.#asked.delete(kind.key);
      if (question && "result" in message) this.#note(question, kind.session);
    }
    this.#write(message);
  }

  /** Passes the editor's answer to the server that asked. */
  async #answer(message: AnyMessage): Promise<void> {
    if (!("id" in message) || typeof message.id !== "string") return;
    const id = this.#askedBack.get(message.id);
    if (id === undefined || !this.#askedBack.delete(message.id)) return;
    await this.#line?.send({ ...message, id }).catch(() => undefined);
  }

  /** Tracks which sessions are open. */
  #note(question: AnyMessage, answered: string | undefined): void {
    const kind = kindOf(question);
    if (kind.type !== "request" || !("params" in question)) return;
    const session = kind.method === "session/new" || kind.method === "session/fork" ? answered : kind.session;
    if (session === undefined) return;
    if (kind.method === "session/close" || kind.method === "session/delete") return void this.#sessions.delete(session);
    if (!/^session\/(new|fork|load|resume)$/.test(kind.method)) return;
    const { success, data } = opening.safeParse(question.params);
    if (success) this.#sessions.set(session, data);
  }

  #lose(line: ServerLine, reason: string): void {
    if (this.#line !== line) return;
    this.#line = undefined;
    for (const message of this.#asked.values()) this.#refuse(message, new Error(reason));
    this.#asked.clear();
    for (const requestId of this.#askedBack.keys()) {
      this.#write({ jsonrpc: "2.0", method: CANCEL, params: { requestId } });
    }
    this.#askedBack.clear();
  }

  #refuse(message: AnyMessage, error: unknown): void {
    if (!("id" in message)) return;
    const fix = error instanceof TandemError && error.fix ? ` ${error.fix}` : "";
    const why = error instanceof Error ? error.message + fix : String(error);
    this.#write(rpcError({ code: INTERNAL, message: why }, message.id));
  }

  #write(message: AnyMessage): void {
    this.#output.write(`${JSON.stringify(message)}\n`);
    if (this.#output.writableNeedDrain) this.#line?.pauseUntil((go) => this.#output.once("drain", go));
  }
}
