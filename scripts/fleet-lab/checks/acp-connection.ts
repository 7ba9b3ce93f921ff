import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { readFrames } from "@tandem/client";
import { type CheckContext, expectThat, headersOf, until, urlOf } from "./lab-check.ts";

export interface AcpMessage {
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: unknown;
}

/** An editor's connection behind HAProxy. */
export abstract class AcpConnection implements Disposable {
  /** All messages of the agent, in the order of their arrival. */
  readonly messages: AcpMessage[] = [];
  #ids = 0;

  abstract send(message: AcpMessage, session?: string): Promise<void>;
  abstract [Symbol.dispose](): void;

  /** Sends a request and returns its id. */
  async ask(method: string, params: Record<string, unknown>, session?: string): Promise<number> {
    this.#ids += 1;
    const id = this.#ids;
    await this.send({ id, method, params }, session);
    return id;
  }

  answer(id: number): Promise<Record<string, unknown>> {
    return until(`The answer ${id}`, async () => {
      const found = this.messages.find((message) => message.id === id && message.method === undefined);
      expectThat(found?.error === undefined, `The agent answered ${JSON.stringify(found?.error)}.`);
      return found?.result;
    });
  }

  /** The last request of the agent for this session. */
  question(session: string): Promise<AcpMessage> {
    return until("The agent's question", async () =>
      this.messages.findLast(
        ({ method, params }) => method === "session/request_permission" && params?.["sessionId"] === session,
      ),
    );
  }

  async allow({ id, params }: AcpMessage, session: string): Promise<void> {
    const options = params?.["options"] as { optionId: string; kind: string }[];
    const { optionId } = options.find(({ kind }) => kind === "allow_once")!;
    await this.send({ id: id!, result: { outcome: { outcome: "selected", optionId } } }, session);
  }
}

const INITIALIZE = { protocolVersion: 1, clientCapabilities: {} };
const AGAIN_MS = 100;

/** Posts messages, and follows its streams with `Last-Event-ID`. */
export class HttpAcp extends AcpConnection {
  /** The event ids of each stream. */
  readonly eventIds: number[] = [];
  /** How often a stream ended. */
  breaks = 0;
  readonly #headers: Record<string, string>;
  readonly #ending = new AbortController();

  private constructor(headers: Record<string, string>) {
    super();
    this.#headers = headers;
  }

  static async open(context: CheckContext): Promise<HttpAcp> {
    const headers = headersOf(context);
    const begun = await post(headers, { id: 0, method: "initialize", params: INITIALIZE });
    const id = begun.headers.get("acp-connection-id") ?? "";
    expectThat(begun.status === 200 && id !== "", `initialize answered ${begun.status}.`);
    const connection = new HttpAcp({ ...headers, "acp-connection-id": id });
    connection.listen();
    return connection;
  }

  /** A POST that is repeated while its request runs is taken once. */
  async send(message: AcpMessage, session?: string): Promise<void> {
    const headers = { ...this.#headers, ...(session !== undefined && { "acp-session-id": session }) };
    await until("A message to the agent", async () => {
      const { status } = await post(headers, message);
      if (status < 500) expectThat(status === 202, `POST /acp answered ${status}.`);
      return status === 202 ? true : undefined;
    });
  }

  /** The connection's stream, or that of a session. */
  listen(session?: string): void {
    void this.#follow(session).catch(() => undefined);
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
  }

  async #follow(session: string | undefined): Promise<void> {
    const { signal } = this.#ending;
    let last: string | undefined;
    while (!signal.aborted) {
      try {
        const headers = {
          ...this.#headers,
          accept: "text/event-stream",
          ...(session !== undefined && { "acp-session-id": session }),
          ...(last !== undefined && { "last-event-id": last }),
        };
        const { body, ok } = await fetch(`${urlOf("haproxy")}/acp`, { headers, signal });
        if (!ok || !body) throw new Error("The stream was refused.");
        for await (const { id, data } of readFrames(body)) {
          if (id === undefined) continue;
          last = id;
          this.eventIds.push(Number(id));
          this.messages.push(JSON.parse(data) as AcpMessage);
        }
      } catch {
        // Its server has died.
      }
      this.breaks += 1;
      await sleep(AGAIN_MS);
    }
  }
}

const post = (headers: Record<string, string>, message: AcpMessage): Promise<Response> =>
  fetch(`${urlOf("haproxy")}/acp`, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...message }) });

/** A WebSocket ends with its server, and has no event ids: its client begins again. */
export class SocketAcp extends AcpConnection {
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    super();
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.messages.push(JSON.parse(String(data)) as AcpMessage));
  }

  static async open(context: CheckContext): Promise<SocketAcp> {
    const { "x-api-key": key = "" } = headersOf(context);
    const socket = new WebSocket(`${urlOf("haproxy").replace("http", "ws")}/acp`, { headers: { "x-api-key": key } });
    socket.addEventListener("error", () => undefined);
    const connection = new SocketAcp(socket);
    await Promise.race([
      once(socket, "open"),
      once(socket, "close").then(() => Promise.reject(new Error("The WebSocket was refused."))),
    ]);
    await connection.answer(await connection.ask("initialize", INITIALIZE));
    return connection;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  async send(message: AcpMessage): Promise<void> {
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}
