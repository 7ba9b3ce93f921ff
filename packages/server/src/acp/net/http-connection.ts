import type { AgentConnector, AnyMessage } from "@agentclientprotocol/sdk";
import { RequestError } from "@tandem/protocol";
import type { TokenRow } from "@tandem/storage";
import type { EventStream } from "../../http/sse/event-stream.ts";
import { WireError } from "../../http/wire-error.ts";
import type { AcpLimits } from "../../http/acp-limits.ts";
import { AgentLink } from "./agent-link.ts";
import { ReplayStream } from "./replay-stream.ts";
import { kindOf, type MessageKind } from "./rpc-message.ts";
import { within } from "./within.ts";

/** The stream for a message: a session's, or null for the connection's own. */
type Route = string | null;

/** Methods that concern one session even if their params do not name it; the header must. */
const ABOUT_A_SESSION = new Set([
  "session/cancel",
  "session/close",
  "session/delete",
  "session/fork",
  "session/load",
  "session/prompt",
  "session/resume",
  "session/set_config_option",
  "session/set_mode",
]);

/**
 * An editor that POSTs messages and listens to SSE streams: one of the connection, and one for each session. Event ids
 * increase across all of them. Messages are buffered until a listener connects.
 */
export class HttpConnection {
  readonly id: string;
  readonly token: TokenRow;
  readonly #limits: AcpLimits;
  readonly #link: AgentLink;
  readonly #own: ReplayStream;
  readonly #sessions = new Map<string, ReplayStream>();
  /** The client's unanswered requests, and the stream for each response. */
  readonly #asked = new Map<string, Route>();
  /** The agent's unanswered requests. */
  readonly #askedBack = new Map<string, Route>();
  readonly #awaited = new Map<string, (answer: AnyMessage) => void>();
  #room = Promise.withResolvers<void>();
  #newest = 0;
  #lastHeard = performance.now();

  constructor(parts: { id: string; token: TokenRow; agent: AgentConnector; limits: AcpLimits }) {
    this.id = parts.id;
    this.token = parts.token;
    this.#limits = parts.limits;
    this.#own = this.#newStream();
    this.#link = new AgentLink(parts.agent, (message) => this.#deliver(message));
  }

  /** Resolves when the agent has closed. */
  get closed(): Promise<void> {
    return this.#link.closed;
  }

  /** The last event id. */
  get newest(): number {
    return this.#newest;
  }

  /** Time since the last listener or request. */
  idleMs(now: number): number {
    if (this.#own.isListenedTo || [...this.#sessions.values()].some((stream) => stream.isListenedTo)) {
      this.#lastHeard = now;
    }
    return now - this.#lastHeard;
  }

  /** The response is returned in the body of the POST. */
  async initialize(message: AnyMessage): Promise<AnyMessage> {
    const kind = kindOf(message);
    if (kind.type !== "request") throw new RequestError("invalid_request", "`initialize` needs an id.");
    const { promise, resolve } = Promise.withResolvers<AnyMessage>();
    this.#awaited.set(kind.key, resolve);
    this.#link.send(message);
    const answer = await within(promise, this.#limits.answerMs);
    if (!answer) throw new WireError("timeout", "The agent did not answer `initialize` in time.");
    return answer;
  }

  /** Passes a message to the agent. Ignores a request that repeats one in progress. */
  receive(message: AnyMessage, session: string | undefined): void {
    this.#lastHeard = performance.now();
    const kind = kindOf(message);
    checkSession(kind, session, this.#askedBack);
    if (kind.type === "request") {
      if (this.#asked.has(kind.key)) return;
      this.#checkRoom();
      // As in the protocol's own server, the response to `session/load` goes to the connection's stream.
      this.#asked.set(kind.key, kind.method === "session/load" ? null : (session ?? kind.session ?? null));
    }
    if (kind.type === "response" && kind.key !== undefined) this.#askedBack.delete(kind.key);
    this.#link.send(message);
  }

  /** Whether this connection has seen the session. */
  knows(session: string): boolean {
    return this.#sessions.has(session);
  }

  listen(receiver: EventStream, session: string | undefined, last: number | undefined): void {
    this.#lastHeard = performance.now();
    (session === undefined ? this.#own : this.#streamOf(session)).attach(receiver, last);
  }

  /** Resolves when the agent has closed. */
  async close(reason: string): Promise<void> {
    await this.#link.close(this.#limits.answerMs);
    for (const stream of [this.#own, ...this.#sessions.values()]) stream.end(reason);
    this.#room.resolve();
  }

  async #deliver(message: AnyMessage): Promise<void> {
    const kind = kindOf(message);
    const awaited = kind.type === "response" && kind.key !== undefined ? this.#awaited.get(kind.key) : undefined;
    if (awaited) {
      this.#awaited.clear();
      return awaited(message);
    }
    const route = this.#routeOf(kind);
    this.#newest += 1;
    (route === null ? this.#own : this.#streamOf(route)).push(this.#newest, JSON.stringify(message));
    await this.#hasRoom();
  }

  #routeOf(kind: MessageKind): Route {
    if (kind.type === "response") {
      const route = (kind.key !== undefined && this.#asked.get(kind.key)) || null;
      if (kind.key !== undefined) this.#asked.delete(kind.key);
      // A new session: accept listeners of its stream from now on.
      if (kind.session !== undefined) this.#streamOf(kind.session);
      return route;
    }
    const route = kind.session ?? null;
    if (kind.type === "request") this.#askedBack.set(kind.key, route);
    return route;
  }

  #streamOf(session: string): ReplayStream {
    const known = this.#sessions.get(session);
    if (known) {
      // Move it to the end: the first stream of the map without a listener is evicted first.
      this.#sessions.delete(session);
      this.#sessions.set(session, known);
      return known;
    }
    if (this.#sessions.size >= this.#limits.maxSessionStreams) {
      const [spare] = [...this.#sessions].find(([, stream]) => !stream.isListenedTo) ?? [];
      if (spare !== undefined) this.#sessions.delete(spare);
    }
    const stream = this.#newStream();
    this.#sessions.set(session, stream);
    return stream;
  }

  #newStream(): ReplayStream {
    const { replayBytes, stallMs } = this.#limits;
    const onRoom = (): void => {
      if (this.#waitingBytes < this.#limits.waitingBytes) this.#room.resolve();
    };
    return new ReplayStream({ after: this.#newest, replayBytes, stallMs, onRoom });
  }

  get #waitingBytes(): number {
    let bytes = this.#own.waitingBytes;
    for (const stream of this.#sessions.values()) bytes += stream.waitingBytes;
    return bytes;
  }

  #checkRoom(): void {
    if (this.#asked.size >= this.#limits.maxRequests) {
      throw new WireError("too_many", `${this.#asked.size} requests of this connection wait for their answers.`);
    }
    if (this.#waitingBytes >= this.#limits.waitingBytes) {
      throw new WireError("too_many", "The client does not read its messages.", {
        fix: "Read its streams, those of its sessions too.",
      });
    }
  }

  /** Applies the client's backpressure to the agent. Closes a connection whose client does not read. */
  async #hasRoom(): Promise<void> {
    if (this.#waitingBytes < this.#limits.waitingBytes) return;
    this.#room = Promise.withResolvers();
    const { promise } = this.#room;
    const isThere = await within(
      promise.then(() => true),
      this.#limits.stallMs,
    );
    if (!isThere) void this.close("the client does not read this stream");
  }
}

/** The header and the message must name the same session; a session message needs the header. */
function checkSession(kind: MessageKind, header: string | undefined, askedBack: ReadonlyMap<string, Route>): void {
  const wanted =
    kind.type === "response"
      ? kind.key === undefined
        ? null
        : (askedBack.get(kind.key) ?? null)
      : (kind.session ?? null);
  const isNeeded = wanted !== null || (kind.type !== "response" && ABOUT_A_SESSION.has(kind.method));
  if (isNeeded && header === undefined) {
    throw new RequestError("invalid_request", "Acp-Session-Id: this header is needed for messages about a session.");
  }
  if (wanted !== null && header !== wanted) {
    throw new RequestError("invalid_request", "Acp-Session-Id: the message is about another session.");
  }
}
