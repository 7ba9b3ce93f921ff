import type { AgentConnector, AnyMessage } from "@agentclientprotocol/sdk";
import { parseJson } from "@tandem/protocol";
import type { TokenRow } from "@tandem/storage";
import type { RawData, WebSocket } from "ws";
import { isNestedDeeper } from "../../http/request/is-nested-deeper.ts";
import type { AcpLimits } from "../../http/acp-limits.ts";
import { AgentLink } from "./agent-link.ts";
import { kindOf, readMessage, rpcError } from "./rpc-message.ts";
import { within } from "./within.ts";

/** Rejects JSON that is nested too deeply to parse safely. */
const DEEPEST = 200;
/** WebSocket close codes: server stopping, protocol violation, client too slow. */
const GOING = 1001;
const AGAINST_THE_RULES = 1008;
const NOT_READ = 1013;
/** A client that does not confirm the close within this time is disconnected. */
const CLOSE_TIMEOUT_MS = 2_000;

/** An editor on a WebSocket. Each message is one text frame, in both directions. */
export class SocketConnection {
  readonly token: TokenRow;
  readonly #socket: WebSocket;
  readonly #limits: AcpLimits;
  readonly #link: AgentLink;
  readonly #asked = new Set<string>();
  readonly #isValid: (token: TokenRow) => Promise<boolean>;
  #validAt = performance.now();
  /** Keeps messages in order although each waits for its token check. */
  #inbound = Promise.resolve();
  #isAlive = true;

  constructor(parts: {
    socket: WebSocket;
    token: TokenRow;
    /** Whether the token is still valid. */
    isValid: (token: TokenRow) => Promise<boolean>;
    agent: AgentConnector;
    limits: AcpLimits;
  }) {
    this.token = parts.token;
    this.#isValid = parts.isValid;
    this.#socket = parts.socket;
    this.#limits = parts.limits;
    this.#link = new AgentLink(parts.agent, (message) => this.#send(message));
    this.#socket.on("message", (data, isBinary) => {
      if (!isBinary) this.#receive(data);
    });
    this.#socket.on("pong", () => void (this.#isAlive = true));
    // An oversized or broken frame; `close` follows.
    this.#socket.on("error", () => undefined);
    this.#socket.once("close", () => void this.#link.close(this.#limits.answerMs));
    void this.#link.closed.then(() => this.#socket.close(GOING));
  }

  get closed(): Promise<void> {
    return this.#link.closed;
  }

  /** Closes the socket if the client did not answer the last ping. */
  beat(): void {
    if (!this.#isAlive) return this.#socket.terminate();
    this.#isAlive = false;
    this.#socket.ping();
  }

  async close(reason: string, code = GOING): Promise<void> {
    this.#end(code, reason);
    await this.#link.close(this.#limits.answerMs);
  }

  #end(code: number, reason: string): void {
    this.#socket.close(code, reason);
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_TIMEOUT_MS);
    this.#socket.once("close", () => clearTimeout(timer));
  }

  #receive(data: RawData): void {
    this.#isAlive = true;
    const value = parse(data);
    if (value === undefined) return void this.#send(rpcError({ code: -32_700, message: "This is not valid JSON." }));
    const message = readMessage(value);
    if (!message) {
      const what = Array.isArray(value) ? "Batches are not supported." : "This is not a message of JSON-RPC.";
      return void this.#send(rpcError({ code: -32_600, message: what }));
    }
    const kind = kindOf(message);
    if (kind.type === "request") {
      if (this.#asked.size >= this.#limits.maxRequests) {
        return this.#end(AGAINST_THE_RULES, "too many requests wait for their answers");
      }
      // As over HTTP, ignore a request that repeats one in progress; their number must stay bounded.
      if (this.#asked.has(kind.key)) return;
      this.#asked.add(kind.key);
    }
    this.#inbound = this.#inbound.then(() => this.#take(message)).catch(() => this.#end(GOING, "the agent has gone"));
  }

  /** Checks the token again, because a revoked token must not act until the next heartbeat. */
  async #take(message: AnyMessage): Promise<void> {
    const now = performance.now();
    if (now - this.#validAt >= this.#limits.tokenMs) {
      this.#socket.pause();
      // A database error does not prove that the token is invalid.
      const isValid = await this.#isValid(this.token).catch(() => true);
      this.#socket.resume();
      if (!isValid) return this.close("the token is not valid any more", AGAINST_THE_RULES);
      this.#validAt = now;
    }
    this.#link.send(message);
  }

  /** Applies the client's backpressure. Closes a connection whose client does not read. */
  async #send(message: AnyMessage): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const kind = kindOf(message);
    if (kind.type === "response" && kind.key !== undefined) this.#asked.delete(kind.key);
    const { promise, resolve } = Promise.withResolvers<true>();
    // The callback also runs, with an error, when the socket closes.
    this.#socket.send(JSON.stringify(message), () => resolve(true));
    if (this.#socket.bufferedAmount < this.#limits.waitingBytes) return;
    if (!(await within(promise, this.#limits.stallMs))) this.#end(NOT_READ, "the client does not read this socket");
  }
}

/** Undefined for invalid or too deeply nested JSON. */
function parse(data: RawData): unknown {
  const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
  return isNestedDeeper(bytes, DEEPEST) ? undefined : parseJson(bytes.toString("utf8"));
}
