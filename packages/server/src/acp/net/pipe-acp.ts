import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { AnyMessage } from "@agentclientprotocol/sdk";
import { TandemError } from "@tandem/protocol";
import { z } from "zod";
import { kindOf, parseJson, readMessage, rpcError } from "./rpc-message.ts";
import { ServerLine, type ServerPlace } from "./server-line.ts";

/** Code of JSON-RPC for what went wrong on the other side. */
const INTERNAL = -32_603;

interface Pipe {
  input: Readable;
  output: Writable;
  /** Where the server is now; rejects if there is none. Asked again when it has gone. */
  find: () => Promise<ServerPlace>;
  signal: AbortSignal;
}

const CANCEL = "$/cancel_request";
const cancelling = z.looseObject({ requestId: z.union([z.string(), z.number()]) });
const opening = z.looseObject({ cwd: z.string() });

/**
 * Lines of ACP on one side, a server's WebSocket on the other. A server that goes away fails what it had not answered; with
 * the next request the one that is there by then is asked, and the sessions that the editor had open are taken up in it.
 * Resolves when the editor has ended its side.
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
  /** What the editor began with, to be said again to another server. */
  #initialize: AnyMessage | undefined;
  /** What the editor has asked and not been answered. */
  readonly #asked = new Map<string, AnyMessage>();
  /** What the server has asked, by the id that the editor knows it by. Of a server that has gone, nothing is answered. */
  readonly #askedBack = new Map<string, string | number>();
  /** Sessions that the editor has open, and what it opened them with. */
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
      // A server that has gone is not looked for to be told that something is over.
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

  /** Brings another server to where the last one was. */
  async #again(line: ServerLine): Promise<void> {
    if (this.#initialize && "params" in this.#initialize) {
      await line.ask(this.#ownId(), "initialize", this.#initialize.params);
    }
    for (const [sessionId, params] of this.#sessions) {
      // One that is gone is missed when the editor asks for it.
      await line.ask(this.#ownId(), "session/resume", { ...params, sessionId }).catch(() => undefined);
    }
  }

  #ownId(): string {
    this.#own += 1;
    return `tandem-pipe-${this.#own}`;
  }

  /** From the server. Ids of a former one may come again: the editor must not take an answer for another question's. */
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

  /** From the editor, to what the server that is there now has asked. */
  async #answer(message: AnyMessage): Promise<void> {
    if (!("id" in message) || typeof message.id !== "string") return;
    const id = this.#askedBack.get(message.id);
    if (id === undefined || !this.#askedBack.delete(message.id)) return;
    await this.#line?.send({ ...message, id }).catch(() => undefined);
  }

  /** Which sessions are open. */
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
