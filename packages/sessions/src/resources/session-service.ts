import {
  RequestError,
  type AuditNote,
  type BackgroundTask,
  type ClientEvent,
  type EventOf,
  type LiveDelta,
  type LoggedEvent,
  type Session,
  type SessionCreateParams,
  type SessionEvent,
  type SessionId,
  type SessionUpdateParams,
  type Thread,
} from "@tandem/protocol";
import type { EventRange, Page, SessionRow, SessionStore, Store } from "@tandem/storage";
import { listFolder, readInside, searchFolder } from "@tandem/workspace";
import type { AgentCatalogue } from "./agents.ts";
import type { Auditor } from "../audit/auditor.ts";
import type { KillSwitch } from "../budgets/kill-switch.ts";
import type { SlashCommand } from "../commands/command-catalogue.ts";
import type { SessionCommands } from "../commands/session-commands.ts";
import type { DeltaHub } from "../log/delta-hub.ts";
import { describeUpdate } from "./describe-update.ts";
import type { EnvironmentCatalogue } from "./environments.ts";
import { Feed, type FeedItem } from "../log/feed.ts";
import type { Rules } from "../rules/rules.ts";
import type { SessionActors } from "../actor/session-actors.ts";
import { draftSession } from "./session-draft.ts";
import type { SessionPlaces } from "./session-places.ts";
import { sentBy } from "./sent-by.ts";
import type { SessionFolder, Sessions } from "./sessions.ts";
import { SentEvents } from "./sent-events.ts";
import { sessionView, threadView } from "../log/session-view.ts";
import type { SessionOptions } from "./session-options.ts";

const MAX_FILE_BYTES = 1024 * 1024;

/** What clients may do with sessions. Whatever changes one goes through its one writer; reading needs nobody. */
export class SessionService implements Sessions {
  readonly #store: Store;
  readonly #agents: AgentCatalogue;
  readonly #environments: EnvironmentCatalogue;
  readonly #places: SessionPlaces;
  readonly #actors: SessionActors;
  readonly #audit: Auditor;
  readonly #commands: SessionCommands;
  readonly #killSwitch: KillSwitch;
  readonly #wishes: SessionOptions;
  readonly #rules: Pick<Rules, "forget">;
  readonly #deltas: DeltaHub;
  readonly #forget: (row: SessionRow) => Promise<void>;
  readonly #feed: Feed;
  readonly #sent: SentEvents;
  readonly folder: SessionFolder;

  constructor(parts: {
    store: Store;
    agents: AgentCatalogue;
    environments: EnvironmentCatalogue;
    places: SessionPlaces;
    actors: SessionActors;
    audit: Auditor;
    commands: SessionCommands;
    killSwitch: KillSwitch;
    rules: Pick<Rules, "forget">;
    wishes: SessionOptions;
    deltas: DeltaHub;
    /** Takes away what is kept of a session elsewhere. */
    forget: (row: SessionRow) => Promise<void>;
  }) {
    this.#store = parts.store;
    this.#agents = parts.agents;
    this.#environments = parts.environments;
    this.#places = parts.places;
    this.#actors = parts.actors;
    this.#audit = parts.audit;
    this.#commands = parts.commands;
    this.#killSwitch = parts.killSwitch;
    this.#wishes = parts.wishes;
    this.#rules = parts.rules;
    this.#deltas = parts.deltas;
    this.#forget = parts.forget;
    this.#feed = new Feed(parts.store);
    this.#sent = new SentEvents(parts);
    const folderOf = async (id: string): Promise<string> => (await this.#row(id)).folder;
    this.folder = {
      list: async (id, path) => listFolder(await folderOf(id), path),
      search: async (id, query) => searchFolder(await folderOf(id), query),
      read: async (id, path) => readInside(await folderOf(id), path, { maxBytes: MAX_FILE_BYTES }),
    };
  }

  async create(params: SessionCreateParams, by?: string): Promise<Session> {
    if (params.initial_events?.length) await this.#killSwitch.refuse();
    const environment = await this.#environments.open(params.environment_id);
    const draft = await draftSession(await this.#checked(params), this.#agents, this.#store.files, by);
    const folder = await this.#places.prepare(environment, draft.row.id, draft.row.metadata);
    let row: SessionRow = { ...draft.row, folder, place: this.#places.placeOf(environment), resources: [] };
    try {
      row = { ...row, resources: await this.#places.placeFiles(folder, draft.files, this.#store.files) };
      const checked = draft.inbox.map(async (event) =>
        event.type === "user.message" ? this.#commands.check(row, event) : event,
      );
      await this.#store.sessions.create(row, await Promise.all(checked));
    } catch (error) {
      await this.#places.remove(row);
      throw error;
    }
    await this.#audit.note(begun(row, by));
    this.#feed.changed(row.id);
    if (draft.inbox.length > 0) this.#actors.wake(row.id);
    return sessionView(row);
  }

  async #checked(params: SessionCreateParams): Promise<SessionCreateParams> {
    const { metadata, initial_events: events } = params;
    return {
      ...params,
      ...(metadata && { metadata: await this.#wishes.metadata(metadata) }),
      ...(events && {
        initial_events: await Promise.all(
          events.map((event, index) => this.#wishes.message(event, `initial_events[${index}]`)),
        ),
      }),
    };
  }

  async get(id: string): Promise<Session> {
    return sessionView(await this.#row(id));
  }

  async list(query: Parameters<SessionStore["list"]>[0]): Promise<Page<Session>> {
    const page = await this.#store.sessions.list(query);
    return { ...page, data: page.data.map(sessionView) };
  }

  async update(id: string, params: SessionUpdateParams, by?: string): Promise<Session> {
    const { id: session } = await this.#open(id);
    if (params.vault_ids?.length) throw new RequestError("invalid_request", "vault_ids: Tandem has no vaults.");
    const metadata = params.metadata && (await this.#wishes.metadata(params.metadata));
    const row = await this.#actors.with(session, (actor) =>
      actor.change((current) => {
        if (params.agent && actor.running) throw busy(id);
        const { change, events } = describeUpdate(current, { ...params, ...(metadata && { metadata }) }, by);
        return { change, events: [...events, ...this.#wishes.modeEvents(current.metadata, change.metadata, by)] };
      }),
    );
    if (params.agent) await this.#rules.forget({ scope: "session", of: session });
    this.#feed.changed(session);
    // What waited for a larger budget or other limits waits no more.
    if (params.budget !== undefined || params.metadata !== undefined) this.#actors.wake(session);
    return sessionView(row);
  }

  async archive(id: string, by?: string): Promise<Session> {
    const row = await this.#row(id);
    if (row.archivedAt) return sessionView(row);
    const archived = await this.#actors.with(row.id, (actor) => actor.archive(by));
    await this.#actors.release(row.id);
    await this.#places.archived(archived);
    this.#feed.changed(row.id);
    return sessionView(archived);
  }

  async delete(id: string, by = "unknown"): Promise<void> {
    const row = await this.#row(id);
    await this.#actors.with(row.id, (actor) =>
      actor.delete(async (current) => {
        await this.#places.remove(current);
        await this.#forget(current);
        // What its log says must be in the audit before there is no log.
        await this.#audit.catchUp(row.id);
        const usd = Number(row.usage.list_cost.amount) / 100;
        await this.#audit.note({
          kind: "session.deleted",
          actor: by,
          session: row.id,
          details: { title: row.title, usd },
        });
      }),
    );
    await this.#rules.forget({ scope: "session", of: row.id });
    this.#feed.removed(row.id);
  }

  async send(id: string, events: readonly ClientEvent[], by?: string): Promise<SessionEvent[]> {
    const row = await this.#open(id);
    const given = await this.#sent.answeredBefore(row, events);
    if (given) return given;
    const waiting = (await this.#sent.check(row, events)).map((event) => sentBy(event, by));
    await this.#actors.claim(row.id);
    await this.#store.inbox.put(row.id, waiting);
    this.#actors.wake(row.id);
    return waiting;
  }

  async takeBack(id: string, event: string, by?: string): Promise<void> {
    const row = await this.#open(id);
    if (await this.#actors.with(row.id, (actor) => actor.takeBack(event, by))) return;
    if (!(await this.#store.events.find(row.id, event))) {
      throw new RequestError("not_found", `No message ${event} waits in the session ${row.id}.`);
    }
    throw new RequestError("conflict", `The agent has the message ${event} already.`, {
      fix: "Interrupt the turn, or rewind to before the message.",
    });
  }

  async events(id: string, range: EventRange): Promise<{ events: LoggedEvent[]; waiting: SessionEvent[] }> {
    const { id: session } = await this.#row(id);
    // The inbox first: what is taken between the two reads shows twice at worst, and never not at all.
    const waiting = await this.#store.inbox.list(session);
    const events = await this.#store.events.read(session, range);
    const taken = new Set(events.map(({ event }) => event.id));
    const atEnd = range.order !== "desc" ? events.length < range.limit : range.before === undefined;
    const shown = waiting.filter(({ id: event, type }) => !taken.has(event) && (range.types?.includes(type) ?? true));
    return { events, waiting: atEnd && (range.thread ?? null) === null && !range.since ? shown : [] };
  }

  async head(id: string): Promise<number> {
    return this.#store.events.head((await this.#row(id)).id);
  }

  follow(id: SessionId, after: number, signal: AbortSignal): AsyncIterable<LoggedEvent[]> {
    return this.#store.events.follow(id, after, signal);
  }

  onDelta(id: SessionId, listener: (deltas: readonly LiveDelta[]) => void, from?: "here"): () => void {
    return from === "here" ? this.#deltas.listenHere(id, listener) : this.#deltas.listen(id, listener);
  }

  async threads(id: string): Promise<Thread[]> {
    const row = await this.#row(id);
    return (await this.#store.sessions.threads(row.id)).map((thread) => threadView(thread, row));
  }

  async tasks(id: string): Promise<BackgroundTask[]> {
    const { id: session } = await this.#row(id);
    return [...((await this.#actors.present(session))?.tasks ?? [])];
  }

  async stopTask(id: string, taskId: string): Promise<void> {
    const { id: session } = await this.#row(id);
    const actor = await this.#actors.present(session);
    if (!actor) throw new RequestError("not_found", `The session has no background task ${taskId}.`);
    await actor.stopTask(taskId);
  }

  async commands(id: string): Promise<SlashCommand[]> {
    return this.#commands.list(await this.#row(id));
  }

  async commandsIn(folder: string): Promise<SlashCommand[]> {
    return this.#commands.list({ folder: await this.#places.resolve(folder) });
  }

  async shell(id: string, command: string, by: string, signal: AbortSignal): Promise<EventOf<"tandem.shell">> {
    const row = await this.#open(id);
    const { exitCode, output, truncated } = await this.#commands.shell(row, command, signal);
    const event = { type: "tandem.shell" as const, command, exit_code: exitCode, output, truncated, by };
    await this.#actors.with(row.id, (actor) => actor.change(() => ({ change: {}, events: [event] })));
    const [last] = await this.#store.events.read(row.id, { order: "desc", limit: 1, types: ["tandem.shell"] });
    return last?.event as EventOf<"tandem.shell">;
  }

  /** A session is there that was not made by `create`. */
  announce({ id }: SessionRow): void {
    this.#feed.changed(id);
  }

  feed(signal: AbortSignal): AsyncIterable<FeedItem> {
    return this.#feed.follow(signal);
  }

  usage(span: { from: string; to: string }): ReturnType<Sessions["usage"]> {
    return this.#store.sessions.usage(span);
  }

  async #row(id: string): Promise<SessionRow> {
    const row = await this.#store.sessions.get(id);
    if (row) return row;
    throw new RequestError("not_found", `There is no session ${id}.`);
  }

  async #open(id: string): Promise<SessionRow> {
    const row = await this.#row(id);
    if (!row.archivedAt) return row;
    throw new RequestError("invalid_request", `The session ${id} is archived and takes nothing any more.`);
  }
}

const begun = (row: SessionRow, by = "unknown"): AuditNote => ({
  kind: "session.created",
  actor: by,
  session: row.id,
  details: {
    title: row.title,
    agent: { id: row.agent.id, version: row.agent.version, model: row.agent.model.id },
    folder: row.folder,
    environment: row.environmentId,
    budget: row.budget,
    metadata: row.metadata,
  },
});

const busy = (id: string): RequestError =>
  new RequestError("conflict", `The agent of the session ${id} cannot be changed while a turn is running.`, {
    fix: "Interrupt it, or wait until it is idle.",
  });
