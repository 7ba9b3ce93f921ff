import { once } from "node:events";
import { createServer, request as send, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { CONTROL_PATH, type ControlAnswer } from "./control-api.ts";
import type { Fault, Faults } from "./faults.ts";

/** Answers requests that drive the emulator itself. */
type Control = (request: IncomingMessage, body: string) => Promise<ControlAnswer>;

/** The server behind the door. */
interface Target {
  url: string;
  /** The number of the last event of a session. Without it, late streams miss what was before. */
  logEnd?: (session: string) => Promise<number>;
}

const HOP_HEADERS = new Set(["connection", "keep-alive", "transfer-encoding"]);

const ERROR_TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
  529: "overloaded_error",
};

/**
 * The address that clients use. It stays the same while the server behind it restarts, and it is where requests meet their
 * faults.
 */
export class FrontDoor implements AsyncDisposable {
  readonly #server: Server;
  readonly #faults: Faults;
  readonly #control: Control | undefined;
  readonly #lateStreams = new LateStreams();
  #target: Target | undefined;

  constructor(faults: Faults, control?: Control) {
    this.#faults = faults;
    this.#control = control;
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
  }

  async listen(port = 0): Promise<string> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Passes requests on to this server; undefined while there is none, and requests are refused. */
  passTo(target: Target | undefined): void {
    this.#target = target;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url: path = "/" } = request;
    if (this.#control && path.startsWith(CONTROL_PATH)) {
      const { status, body } = await this.#control(request, (await buffer(request)).toString());
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      return;
    }
    const fault = this.#faults.takeForRequest(method, path);
    if (fault?.type === "half_open") await delay(fault.ms);
    if (fault?.type === "half_open") return void request.socket.resetAndDestroy();
    if (fault?.type === "lost_request" || !this.#target) return void request.socket.resetAndDestroy();
    if (fault?.type === "status") return answerError(response, fault);
    const body = await buffer(request);
    if (this.#target.logEnd) await this.#lateStreams.sending(method, path, this.#target.logEnd);
    const stream = this.#lateStreams.opened(method, path);
    if (stream?.after !== undefined) request.headers["last-event-id"] ??= stream.after;
    if (fault?.type === "duplicate") (await this.#forward(request, body)).resume();
    const answer = await this.#forward(request, body);
    if (fault?.type === "lost_answer") {
      // The server has handled the request when its answer begins; a stream would never end.
      answer.destroy();
      return void request.socket.resetAndDestroy();
    }
    if (fault?.type === "slow") await delay(fault.ms);
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined && !HOP_HEADERS.has(name)) response.setHeader(name, value);
    }
    response.writeHead(answer.statusCode ?? 502);
    // A stream may be silent at first.
    response.flushHeaders();
    response.on("close", () => answer.destroy());
    await passBody(answer, response, { fault, delivered: stream?.delivered });
  }

  #forward(request: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const target = this.#target?.url ?? "";
    return new Promise((resolve, reject) => {
      const headers = { ...request.headers, host: new URL(target).host };
      const forwarded = send(`${target}${request.url ?? "/"}`, { method: request.method, headers, agent: false });
      forwarded.on("response", resolve).on("error", reject);
      forwarded.end(body);
    });
  }
}

async function passBody(
  answer: IncomingMessage,
  response: ServerResponse,
  { fault, delivered }: { fault: Fault | undefined; delivered: (() => void) | undefined },
): Promise<void> {
  if (fault?.type === "cut_stream") return passEvents(answer, response, { most: fault.afterEvents, delivered });
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    delivered?.();
    if (fault?.type === "slow") await delay(fault.ms);
    response.write(chunk);
  }
  response.end();
}

/** Passes whole events on, however the server's writes were divided, and breaks the connection at the first that is too many. */
async function passEvents(
  answer: IncomingMessage,
  response: ServerResponse,
  { most, delivered }: { most: number; delivered: (() => void) | undefined },
): Promise<void> {
  let events = 0;
  let unfinished = "";
  answer.setEncoding("utf8");
  for await (const text of answer as AsyncIterable<string>) {
    delivered?.();
    // Events end with an empty line.
    const blocks = (unfinished + text).split(/(?<=\n\n)/);
    unfinished = blocks.at(-1)?.endsWith("\n\n") ? "" : (blocks.pop() ?? "");
    for (const block of blocks) {
      if (events >= most) return void response.socket?.resetAndDestroy();
      await new Promise<void>((resolve) => response.write(block, () => resolve()));
      if (/^data:/m.test(block)) events += 1;
    }
  }
  response.end(unfinished);
}

function answerError(
  response: ServerResponse,
  { status, retryAfterSeconds }: Extract<Fault, { type: "status" }>,
): void {
  const type = ERROR_TYPES[status] ?? "api_error";
  const error = { type, message: `The emulator was told to answer ${status}.` };
  response.writeHead(status, {
    "content-type": "application/json",
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
  });
  response.end(JSON.stringify({ type: "error", error }));
}

const SEND = /^\/v1\/sessions\/([^/?]+)\/events(\?|$)/;
const STREAM = /^\/v1\/sessions\/([^/?]+)\/events\/stream(\?|$)/;

/** A program that opens its stream this long after its message would miss parts of a turn of a real model, too. */
const LATE_MS = 10_000;

/**
 * Lets a program send a message and open the stream afterwards, as Anthropic's examples do. A real model leaves it the time
 * for that; an emulated turn may have ended by then. The first stream after a message begins with what followed the
 * message, unless an earlier stream has delivered some of it.
 */
class LateStreams {
  readonly #sent = new Map<string, { position: number; at: number }>();

  /** A message is about to be sent. `position` reads the end of the session's log. */
  async sending(method: string, path: string, position: (session: string) => Promise<number>): Promise<void> {
    const session = method === "POST" ? SEND.exec(path)?.[1] : undefined;
    if (session === undefined) return;
    try {
      this.#sent.set(session, { position: await position(session), at: performance.now() });
    } catch {
      // There is no such session: the server says so to the client.
      this.#sent.delete(session);
    }
  }

  /** A stream opens. Returns the position that it continues from if it is late, and what to call when it delivers something. */
  opened(method: string, path: string): { after: string | undefined; delivered: () => void } | undefined {
    const session = method === "GET" ? STREAM.exec(path)?.[1] : undefined;
    if (session === undefined) return undefined;
    const sent = this.#sent.get(session);
    this.#sent.delete(session);
    const isLate = sent !== undefined && performance.now() - sent.at < LATE_MS;
    return { after: isLate ? String(sent.position) : undefined, delivered: () => this.#sent.delete(session) };
  }
}
