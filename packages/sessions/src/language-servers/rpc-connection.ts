import type { Writable } from "node:stream";
import { z } from "zod";
import { externalDeadline } from "../host/external-deadline.ts";
import { encodeMessage, MessageReader } from "./message-stream.ts";

const METHOD_NOT_FOUND = -32_601;

const incoming = z.object({
  id: z.union([z.number(), z.string()]).nullish(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

interface Pending {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

export interface RpcHandlers {
  onNotification(method: string, params: unknown): void;
  /** Undefined: the method is not supported. */
  answer(method: string, params: unknown): unknown;
}

/** JSON-RPC with a language server. */
export class RpcConnection {
  readonly #input: Writable;
  readonly #handlers: RpcHandlers;
  readonly #reader = new MessageReader();
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #closed: Error | undefined;

  constructor(input: Writable, handlers: RpcHandlers) {
    this.#input = input;
    this.#handlers = handlers;
  }

  /** Rejects if the server answers with an error, ends, or does not answer in time. Then it is asked to cancel its work. */
  async request(
    method: string,
    params: unknown,
    { ms, signal }: { ms: number; signal?: AbortSignal },
  ): Promise<unknown> {
    if (this.#closed) throw this.#closed;
    const id = (this.#lastId += 1);
    const late = externalDeadline(ms);
    const cut = signal ? AbortSignal.any([late, signal]) : late;
    const cancel = (): void => {
      const why = late.aborted ? `did not answer ${method} within ${ms / 1_000} s` : "was interrupted";
      this.#pending.get(id)?.reject(new Error(`it ${why}`));
      this.notify("$/cancelRequest", { id });
    };
    try {
      return await new Promise((resolve, reject) => {
        this.#pending.set(id, { resolve, reject });
        cut.addEventListener("abort", cancel, { once: true });
        this.#send({ id, method, params });
        if (cut.aborted) cancel();
      });
    } finally {
      this.#pending.delete(id);
      cut.removeEventListener("abort", cancel);
    }
  }

  notify(method: string, params: unknown): void {
    if (!this.#closed) this.#send({ method, params });
  }

  /** Throws if the output is not in the protocol. */
  receive(chunk: Buffer): void {
    for (const message of this.#reader.push(chunk)) this.#take(message);
  }

  /** Rejects all requests, present and future. */
  close(reason: Error): void {
    this.#closed ??= reason;
    for (const { reject } of this.#pending.values()) reject(this.#closed);
  }

  #take(message: unknown): void {
    const { id, method, params, result, error } = incoming.parse(message);
    if (method === undefined) {
      const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
      if (error) pending?.reject(new Error(error.message));
      else pending?.resolve(result);
      return;
    }
    if (id === undefined || id === null) return this.#handlers.onNotification(method, params);
    const answered = this.#handlers.answer(method, params);
    if (answered !== undefined) return this.#send({ id, result: answered });
    this.#send({ id, error: { code: METHOD_NOT_FOUND, message: `${method} is not supported` } });
  }

  #send(message: object): void {
    if (this.#input.writable) this.#input.write(encodeMessage(message));
  }
}
