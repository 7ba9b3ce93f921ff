import type { Agent } from "node:http";
import type { AnyMessage } from "@agentclientprotocol/sdk";
import { parseJson, TandemError } from "@tandem/protocol";
import { WebSocket } from "ws";
import { ACP_PATH } from "../../http/acp-path.ts";
import { kindOf, readMessage } from "./rpc-message.ts";
import { within } from "./within.ts";

const OPEN_MS = 10_000;
/** Time for the agent to answer a simple request. */
const ANSWER_MS = 30_000;
const CLOSE_MS = 2_000;
/** Longer than the server's heartbeat; without a message for this long the connection is dead. */
const SILENCE_MS = 60_000;
const LOST =
  "The Tandem server has gone away. Open requests may have been carried out; send the request again to continue.";

export interface ServerAddress {
  /** Such as `http://127.0.0.1:4760`. */
  url: string;
  /** Names the requested agent. */
  query?: Readonly<Record<string, string>>;
  token: string;
  /** Trusts the server's own certificate. */
  agent?: Agent;
}

/** The client's end of a WebSocket to a server's `/acp`. */
export class ServerLine {
  readonly #socket: WebSocket;
  readonly #awaited = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  #timer: NodeJS.Timeout | undefined;

  private constructor(
    socket: WebSocket,
    events: { onMessage: (message: AnyMessage) => void; onEnd: (reason: string) => void },
  ) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      const message = readMessage(parseJson(data.toString("utf8")));
      if (message && !this.#settle(message)) events.onMessage(message);
    });
    socket.on("ping", () => this.#heard());
    socket.on("error", () => undefined);
    socket.once("close", () => {
      clearTimeout(this.#timer);
      for (const { reject } of this.#awaited.values()) reject(new Error(LOST));
      events.onEnd(LOST);
    });
    this.#heard();
  }

  static async open(
    { url, query = {}, token, agent }: ServerAddress,
    events: { onMessage: (message: AnyMessage) => void; onEnd: (reason: string) => void },
  ): Promise<ServerLine> {
    const address = new URL(ACP_PATH, url.replace(/^http/, "ws"));
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    const socket = new WebSocket(address, {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: OPEN_MS,
      ...(agent && { agent }),
    });
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", (cause) => {
        reject(
          new TandemError("network", `The Tandem server at ${url} cannot be reached: ${cause.message}.`, {
            fix: "See whether it runs with `tandem status`, or start it with `tandem up`.",
            cause,
          }),
        );
      });
    });
    return new ServerLine(socket, events);
  }

  /** Resolves when the message is sent. */
  send(message: AnyMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.send(JSON.stringify(message), (error) => (error ? reject(new Error(LOST)) : resolve()));
    });
  }

  /** Sends a request of the pipe itself; its response is not passed to the editor. */
  async ask(id: string, method: string, params: unknown): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<true>();
    this.#awaited.set(id, { resolve: () => resolve(true), reject });
    try {
      await this.send({ jsonrpc: "2.0", id, method, params });
      if (!(await within(promise, ANSWER_MS))) throw new Error(`The Tandem server did not answer ${method} in time.`);
    } finally {
      this.#awaited.delete(id);
    }
  }

  /** Applies the reader's backpressure to the socket. */
  pauseUntil(subscribe: (go: () => void) => void): void {
    if (this.#socket.isPaused) return;
    this.#socket.pause();
    clearTimeout(this.#timer);
    subscribe(() => {
      this.#socket.resume();
      this.#heard();
    });
  }

  async close(): Promise<void> {
    if (this.#socket.readyState === this.#socket.CLOSED) return;
    const closed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    this.#socket.close();
    await within(closed, CLOSE_MS);
    this.#socket.terminate();
  }

  #settle(message: AnyMessage): boolean {
    const kind = kindOf(message);
    const awaited = kind.type === "response" && "id" in message ? this.#awaited.get(String(message.id)) : undefined;
    if (!awaited) return false;
    if ("error" in message) awaited.reject(new Error(message.error.message));
    else awaited.resolve();
    return true;
  }

  #heard(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#socket.terminate(), SILENCE_MS);
  }
}
