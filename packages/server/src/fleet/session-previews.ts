import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { addressOf } from "@tandem/client";
import { CONTRACT, readFrames, type LoggedEvent, type SessionId } from "@tandem/protocol";
import type { RemotePreviewSink } from "@tandem/sessions";
import type { Logger } from "../http/create-logger.ts";
import type { FleetKey } from "./fleet-key.ts";
import type { FleetProcess } from "../tenants/fleet-process.ts";
import { forwardRequest } from "./forward-request.ts";
import { PreviewGate } from "./preview-gate.ts";
import { isReachable, type Peer, type Roster } from "./roster.ts";

/** Longer than the other process's heartbeat. */
const SILENCE_MS = 60_000;
const OPEN_MS = 5_000;
const FIRST_RETRY_MS = 200;
const SLOWEST_RETRY_MS = 5_000;
/** More than the previews of a session at one time. */
const LARGEST_FRAME = 16 * 1024 * 1024;
/** After these, another process may write the session. */
const MAY_HAVE_MOVED = new Set(["session.status_running", "tandem.recovered"]);

const batch = CONTRACT["fleet.previews.stream"].frame;

export interface PreviewDependencies {
  self: FleetProcess;
  roster: Roster;
  key: FleetKey;
  logger: Pick<Logger, "warn">;
}

/** One session's previews from the process that writes it. Does nothing if that is this process. */
export class SessionPreviews {
  readonly #session: SessionId;
  readonly #sink: RemotePreviewSink;
  readonly #dependencies: PreviewDependencies;
  readonly #stop = new AbortController();
  /** The process that sends the previews. */
  #source: { peer: Peer; end: AbortController } | undefined;
  #looking = false;
  #isShowing = false;
  #retryMs = FIRST_RETRY_MS;
  #retry: NodeJS.Timeout | undefined;

  constructor(session: SessionId, sink: RemotePreviewSink, dependencies: PreviewDependencies) {
    this.#session = session;
    this.#sink = sink;
    this.#dependencies = dependencies;
    this.#start().catch((error: unknown) => dependencies.logger.warn({ err: error, session }, "no live previews"));
  }

  stop(): void {
    this.#stop.abort();
    clearTimeout(this.#retry);
    this.#source = undefined;
  }

  async #start(): Promise<void> {
    const gate = new PreviewGate(await this.#dependencies.self.store.events.head(this.#session));
    void this.#follow(gate);
    void this.#look(gate);
  }

  async #follow(gate: PreviewGate): Promise<void> {
    const { events } = this.#dependencies.self.store;
    for (let delayMs = FIRST_RETRY_MS; !this.#stop.signal.aborted; delayMs = Math.min(delayMs * 2, SLOWEST_RETRY_MS)) {
      try {
        for await (const some of events.follow(this.#session, gate.seq, this.#stop.signal)) this.#seen(gate, some);
        return this.#leave(gate);
      } catch (error) {
        this.#dependencies.logger.warn(
          { err: error, session: this.#session },
          "lost the connection to a session's log; trying again",
        );
        await sleep(delayMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      }
    }
  }

  #seen(gate: PreviewGate, events: readonly LoggedEvent[]): void {
    gate.pass(events);
    this.#sink.settle(events);
    this.#showSoon(gate);
    if (events.some(({ event }) => MAY_HAVE_MOVED.has(event.type))) void this.#look(gate);
  }

  /** Deferred: followers of the log in this process must receive the same events first. */
  #showSoon(gate: PreviewGate): void {
    if (this.#isShowing) return;
    this.#isShowing = true;
    setImmediate(() => {
      this.#isShowing = false;
      const deltas = gate.take();
      if (this.#source && deltas.length > 0) this.#sink.show(deltas, gate.seq);
    });
  }

  /** Finds the process that writes the session and subscribes to it. */
  async #look(gate: PreviewGate): Promise<void> {
    if (this.#looking || this.#stop.signal.aborted) return;
    this.#looking = true;
    try {
      const { self, roster } = this.#dependencies;
      const held = await self.store.leases.holder(this.#session);
      const known = held && held.holder !== self.holder ? await roster.find(held.holder) : undefined;
      const row = held && held.holder !== self.holder && !known ? await roster.find(held.holder, true) : known;
      if (row?.holder === this.#source?.peer.holder) return;
      this.#leave(gate);
      if (isReachable(row) && !this.#stop.signal.aborted) void this.#listen(gate, row);
      else if (held && held.holder !== self.holder) this.#retryLater(gate, new Error(`${held.holder} has no address.`));
    } catch (error) {
      this.#retryLater(gate, error);
    } finally {
      this.#looking = false;
    }
  }

  async #listen(gate: PreviewGate, peer: Peer): Promise<void> {
    const end = new AbortController();
    const source = { peer, end };
    this.#source = source;
    try {
      const signal = AbortSignal.any([end.signal, this.#stop.signal]);
      for await (const { data } of await this.#open(peer, signal)) {
        if (this.#source !== source) return;
        this.#retryMs = FIRST_RETRY_MS;
        gate.arrive(batch.parse(JSON.parse(data)));
        this.#showSoon(gate);
      }
      throw new Error("The stream of previews has ended.");
    } catch (error) {
      if (this.#source !== source) return;
      this.#leave(gate);
      this.#retryLater(gate, error);
    }
  }

  async #open(peer: Peer, signal: AbortSignal) {
    const { key } = this.#dependencies;
    const { method, path: url } = addressOf("fleet.previews.stream", { params: { session_id: this.#session } });
    const headers = { authorization: `Bearer ${await key.secret()}`, accept: "text/event-stream" };
    const answer = await forwardRequest(
      peer,
      {
        method,
        url,
        headers,
        remote: undefined,
        body: undefined,
        id: `req_${randomBytes(12).toString("hex")}`,
      },
      { signal, deadlineMs: OPEN_MS },
    );
    if (answer.statusCode === 401) key.forget();
    if (answer.statusCode !== 200) {
      answer.resume();
      throw new Error(`The stream of previews was answered with ${answer.statusCode}.`);
    }
    answer.setTimeout(SILENCE_MS, () => answer.destroy(new Error("The stream of previews is silent.")));
    return readFrames(answer, { maxLength: LARGEST_FRAME });
  }

  #leave(gate: PreviewGate): void {
    if (!this.#source) return;
    this.#source.end.abort();
    this.#source = undefined;
    gate.clear();
    this.#sink.tear();
  }

  #retryLater(gate: PreviewGate, error: unknown): void {
    if (this.#stop.signal.aborted) return;
    if (this.#retryMs >= SLOWEST_RETRY_MS) {
      this.#dependencies.logger.warn(
        { err: error, session: this.#session },
        "previews of a session could not be read; trying again",
      );
    }
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#look(gate), this.#retryMs).unref();
    this.#retryMs = Math.min(this.#retryMs * 2, SLOWEST_RETRY_MS);
  }
}
