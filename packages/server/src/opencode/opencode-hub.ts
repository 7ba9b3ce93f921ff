import { setTimeout as delay } from "node:timers/promises";
import { RequestError, SESSION_METADATA, type FeedItem, type FeedSession } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import type { Logger } from "../http/create-logger.ts";
import { isMode } from "./projection/modes.ts";
import type { Catalogue } from "./catalogue.ts";
import { sessionIdOf } from "./projection/opencode-id.ts";
import { childInfo, fileDiffs, sessionInfo, type SessionInfo } from "./projection/session-info.ts";
import { SessionWatch } from "./session-watch.ts";
import type { WireEvent } from "./projection/wire-event.ts";

const RETRY_MS = 1_000;
/** Idle sessions that stay followed, because a client may show them. */
const MAX_IDLE = 30;
/** Sessions of which a new client gets the full state: after a restart, it may still show one of them. */
const RECENT = 5;

export type HubListener = (events: readonly WireEvent[], directory: string) => void;

/** The sessions of a tenant for opencode's clients. All clients share one view of each session. */
export class OpencodeHub {
  readonly #engine: Engine;
  readonly #catalogue: Catalogue;
  readonly #logger: Logger;
  readonly #batchMs: number;
  readonly #sessions = new Map<string, FeedSession>();
  /** In the order of their last use. */
  readonly #watches = new Map<string, SessionWatch>();
  readonly #opening = new Map<string, Promise<SessionWatch>>();
  readonly #listeners = new Set<HubListener>();
  readonly #end = new AbortController();
  readonly #listed = Promise.withResolvers<void>();

  constructor(parts: { engine: Engine; catalogue: Catalogue; logger: Logger; batchMs: number }) {
    this.#engine = parts.engine;
    this.#catalogue = parts.catalogue;
    this.#logger = parts.logger;
    this.#batchMs = parts.batchMs;
    void this.#follow();
  }

  /** All sessions, the last changed first. */
  async list(): Promise<FeedSession[]> {
    await this.#listed.promise;
    return [...this.#sessions.values()]
      .filter(({ archived_at: archived }) => archived === null)
      .toSorted((one, other) => other.updated_at.localeCompare(one.updated_at));
  }

  async info(id: string): Promise<SessionInfo> {
    const session = await this.find(id);
    const info = sessionInfo(session, this.revertOf(id));
    const { usage } = await this.#engine.sessions.get(id);
    const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long } = usage.cache_creation;
    const cache = { read: usage.cache_read_input_tokens, write: short + long };
    return { ...info, tokens: { input: usage.input_tokens, output: usage.output_tokens, reasoning: 0, cache } };
  }

  /** The threads of subagents, as sessions. */
  async children(id: string): Promise<SessionInfo[]> {
    const { facts } = await this.watch(id);
    const parent = sessionInfo(await this.find(id));
    return [...facts.threads].map(([thread, { agent, createdAt }]) =>
      childInfo(parent, id, { id: thread, agent, createdAt }),
    );
  }

  async find(id: string): Promise<FeedSession> {
    await this.#listed.promise;
    const known = this.#sessions.get(id);
    if (known) return known;
    // A session that was created a moment ago may be missing in the feed.
    const session = await this.#engine.sessions.get(id);
    for (const until = performance.now() + RETRY_MS; performance.now() < until; await delay(10)) {
      const arrived = this.#sessions.get(session.id);
      if (arrived) return arrived;
    }
    throw new RequestError("not_found", `There is no session ${id}.`, {
      fix: "Archived sessions are not served here.",
    });
  }

  /** Follows the session until it was idle for long. */
  async watch(id: string): Promise<SessionWatch> {
    const open = this.#watches.get(id);
    if (open) {
      this.#watches.delete(id);
      this.#watches.set(id, open);
      await open.ready;
      return open;
    }
    const opening = this.#opening.get(id) ?? this.#open(id).finally(() => this.#opening.delete(id));
    this.#opening.set(id, opening);
    return opening;
  }

  /** The message that the session was rewound to, while that can be undone. */
  revertOf(id: string): string | undefined {
    return this.#watches.get(id)?.facts.rewind?.to_message_id ?? undefined;
  }

  /** All followed sessions. */
  get watches(): ReadonlyMap<string, SessionWatch> {
    return this.#watches;
  }

  /** Calls the listener with the present state, then with each change. Returns a function that ends the subscription. */
  async subscribe(listener: HubListener): Promise<() => void> {
    const recent = (await this.list()).slice(0, RECENT);
    await Promise.allSettled(recent.map(({ id }) => this.watch(id)));
    for (const [id, watch] of this.#watches) {
      const session = this.#sessions.get(id);
      if (!session) continue;
      const info = sessionInfo(session, this.revertOf(id));
      const updated: WireEvent = { type: "session.updated", properties: { sessionID: info.id, info } };
      listener([updated, ...watch.snapshot()], session.folder);
    }
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#end.abort();
    for (const watch of this.#watches.values()) watch.close();
    this.#watches.clear();
    this.#listeners.clear();
  }

  async #open(id: string): Promise<SessionWatch> {
    const session = await this.find(id);
    const { metadata, agent } = await this.#engine.sessions.get(id);
    const mode = metadata[SESSION_METADATA.permissionMode];
    const model = metadata[SESSION_METADATA.model] ?? agent.model.id;
    const watch = new SessionWatch(session, {
      engine: this.#engine,
      current: {
        mode: isMode(mode) ? mode : this.#catalogue.usualMode,
        model: await this.#catalogue.modelId(model),
      },
      batchMs: this.#batchMs,
      publish: (events) => this.#publish(events, session.folder),
      onChange: (what) => (what === "info" ? this.#tellInfo(id) : void this.#tellDiff(id)),
      onEnd: (error) => {
        if (this.#watches.get(id) === watch) this.#watches.delete(id);
        if (this.#sessions.has(id))
          this.#logger.warn({ err: error, session: id }, "opencode: following a session failed");
      },
    });
    this.#watches.set(id, watch);
    this.#evict();
    await watch.ready;
    return watch;
  }

  #evict(): void {
    const idle = [...this.#watches].filter(([, watch]) => watch.isIdle);
    for (const [id, watch] of idle.slice(0, Math.max(0, idle.length - MAX_IDLE))) {
      watch.close();
      this.#watches.delete(id);
    }
  }

  async #follow(): Promise<void> {
    while (!this.#end.signal.aborted) {
      try {
        for await (const item of this.#engine.sessions.feed(this.#end.signal)) this.#take(item);
      } catch (error) {
        if (this.#end.signal.aborted) return;
        this.#logger.warn({ err: error }, "opencode: the list of sessions could not be read");
      }
      await delay(RETRY_MS, undefined, { signal: this.#end.signal }).catch(() => undefined);
    }
  }

  #take(item: FeedItem): void {
    switch (item.type) {
      case "snapshot":
        this.#sessions.clear();
        for (const session of item.sessions) this.#changed(session);
        this.#listed.resolve();
        return;
      case "changed":
        return this.#changed(item.session);
      case "removed": {
        const session = this.#sessions.get(item.id);
        this.#sessions.delete(item.id);
        this.#watches.get(item.id)?.close();
        this.#watches.delete(item.id);
        if (!session) return;
        const info = sessionInfo(session);
        this.#publish([{ type: "session.deleted", properties: { sessionID: info.id, info } }], session.folder);
      }
    }
  }

  #changed(session: FeedSession): void {
    const isNew = !this.#sessions.has(session.id);
    this.#sessions.set(session.id, session);
    if (isNew) this.#publishInfo("session.created", session);
    this.#publishInfo("session.updated", session);
    const isActive = session.status === "running" || session.waiting_for.length > 0;
    if (isActive && !this.#watches.has(session.id)) {
      void this.#announce(session).catch((error: unknown) =>
        this.#logger.warn({ err: error, session: session.id }, "opencode: following a session failed"),
      );
    }
  }

  /** Another client of Tandem works with the session: tell opencode's clients what they missed. */
  async #announce(session: FeedSession): Promise<void> {
    const watch = await this.watch(session.id);
    this.#publish(watch.snapshot(), session.folder);
  }

  #tellInfo(id: string): void {
    const session = this.#sessions.get(id);
    const watch = this.#watches.get(id);
    if (!session || !watch) return;
    this.#publishInfo("session.updated", session);
    const parent = sessionInfo(session);
    const children = [...watch.facts.threads].map(([thread, { agent, createdAt }]): WireEvent => {
      const info = childInfo(parent, id, { id: thread, agent, createdAt });
      return { type: "session.updated", properties: { sessionID: info.id, info } };
    });
    this.#publish(children, session.folder);
  }

  async #tellDiff(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    if (!session || this.#listeners.size === 0) return;
    try {
      const diff = fileDiffs(await this.#engine.history.diff(id, { patch: true }));
      this.#publish([{ type: "session.diff", properties: { sessionID: sessionIdOf(id), diff } }], session.folder);
    } catch (error) {
      this.#logger.warn({ err: error, session: id }, "opencode: reading a diff failed");
    }
  }

  #publishInfo(type: "session.created" | "session.updated", session: FeedSession): void {
    const info = sessionInfo(session, this.revertOf(session.id));
    this.#publish([{ type, properties: { sessionID: info.id, info } }], session.folder);
  }

  #publish(events: readonly WireEvent[], directory: string): void {
    if (events.length > 0) for (const listener of this.#listeners) listener(events, directory);
  }
}
