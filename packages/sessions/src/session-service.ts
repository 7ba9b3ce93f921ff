import { isDeepStrictEqual } from "node:util";
import {
  RequestError,
  SESSION_METADATA,
  type AuditNote,
  type BackgroundTask,
  type ClientEvent,
  type EventOf,
  type LiveDelta,
  type LoggedEvent,
  type Session,
  type SessionCreateParams,
  type SessionEvent,
  type SessionEventBody,
  type SessionId,
  type SessionUpdateParams,
  type Thread,
} from "@tandem/protocol";
import type { EventRange, Page, SessionChange, SessionRow, SessionStore, Store } from "@tandem/storage";
import { listFolder, readInside, searchFolder } from "@tandem/workspace";
import { mergeMetadata, type AgentCatalogue } from "./agents.ts";
import type { Auditor } from "./audit/auditor.ts";
import { standsAtBudget } from "./budget.ts";
import type { KillSwitch } from "./budgets/kill-switch.ts";
import type { SlashCommand } from "./commands/command-catalogue.ts";
import type { SessionCommands } from "./commands/session-commands.ts";
import { isApproval } from "./approvals/outcome.ts";
import { readAnswers } from "./approvals/questions.ts";
import type { DeltaHub } from "./delta-hub.ts";
import type { FeedItem, SessionFolder, Sessions } from "./engine.ts";
import type { EnvironmentCatalogue } from "./environments.ts";
import { Feed } from "./feed.ts";
import { readOpenTurn, waitingCalls } from "./open-turn.ts";
import { withoutMode } from "./permission-mode.ts";
import { resolveTools } from "./resolve-tools.ts";
import type { Rules } from "./rules/rule-book.ts";
import type { SessionActors } from "./session-actors.ts";
import { checkMetadata, draftSession } from "./session-draft.ts";
import type { SessionPlaces } from "./session-places.ts";
import { sentBy } from "./sent-by.ts";
import { sessionView, threadView } from "./session-view.ts";
import type { SessionWishes } from "./session-wishes.ts";

const ANSWERS: readonly string[] = ["user.tool_confirmation", "user.custom_tool_result"];
const RECENT_ANSWERS = 100;
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
  readonly #wishes: SessionWishes;
  readonly #rules: Pick<Rules, "forget">;
  readonly #deltas: DeltaHub;
  readonly #forget: (row: SessionRow) => Promise<void>;
  readonly #feed: Feed;
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
    wishes: SessionWishes;
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
    if (params.vault_ids?.length) throw invalid("vault_ids: Tandem has no vaults");
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
    const given = await this.#answeredBefore(row, events);
    if (given) return given;
    for (const [index, event] of events.entries()) await this.#check(row, event, `events[${index}]`, events);
    const checked = await Promise.all(
      events.map(async (event, index) =>
        event.type === "user.message"
          ? this.#wishes.message(await this.#commands.check(row, event), `events[${index}]`)
          : event,
      ),
    );
    const waiting = checked.map((event) => sentBy(event, by));
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
    throw invalid(`the session ${id} is archived and takes nothing any more`);
  }

  async #check(row: SessionRow, event: ClientEvent, place: string, all: readonly ClientEvent[]): Promise<void> {
    switch (event.type) {
      case "user.message":
        await this.#killSwitch.refuse();
        if (await standsAtBudget(this.#store.events, row)) {
          throw invalid(`${place}: the session's budget is used up; raise it with an update first`);
        }
        for (const block of event.content) {
          if (block.type === "text" || block.source.type !== "file") continue;
          const { file_id: file } = block.source;
          if (!(await this.#store.files.get(file))) throw invalid(`${place}.content: there is no file ${file}`);
        }
        return;
      case "user.interrupt":
        if (event.session_thread_id && event.session_thread_id !== row.primaryThread) {
          throw invalid(`${place}.session_thread_id: only the primary thread can be interrupted`);
        }
        return;
      case "user.tool_confirmation":
        return this.#checkAnswer(row, event, `${place}.tool_use_id`, all);
      case "user.custom_tool_result":
        return this.#checkAnswer(row, event, `${place}.custom_tool_use_id`, all);
    }
  }

  /** A client that is not sure gives its answers again. If they are the same, they are what was given before. */
  async #answeredBefore(row: SessionRow, events: readonly ClientEvent[]): Promise<SessionEvent[] | undefined> {
    if (!events.every(isAnswer)) return undefined;
    // The inbox first: what is taken between the two reads is in both then, and not in neither.
    const waiting = await this.#store.inbox.list(row.id);
    const logged = await this.#store.events.read(row.id, { order: "desc", limit: RECENT_ANSWERS, types: ANSWERS });
    const known = [...logged.map(({ event }) => event), ...waiting];
    const given = events.map((event) => known.find((other) => isSameAnswer(event, other)));
    return given.every((event) => event !== undefined) ? given : undefined;
  }

  /** Whether a call waits for this kind of answer: known from the log, so that it holds after a restart too. */
  async #checkAnswer(
    row: SessionRow,
    event: Extract<ClientEvent, { type: "user.tool_confirmation" | "user.custom_tool_result" }>,
    place: string,
    all: readonly ClientEvent[],
  ): Promise<void> {
    const custom = event.type === "user.custom_tool_result";
    const id = custom ? event.custom_tool_use_id : event.tool_use_id;
    if (event.tandem) {
      throw invalid(
        `${place.replace(/\.\w+$/, ".tandem")}: answer with more than yes or no at POST /v1/approvals/${id}`,
      );
    }
    const turn = await readOpenTurn(this.#store.events, row.id);
    const call = waitingCalls(turn).find(({ use }) => use.id === id);
    if (!call || (call.use.type === "agent.custom_tool_use") !== custom) {
      const hint = id.startsWith("toolu_") ? "; expected the id of the event (sevt_…), not the tool's" : "";
      throw invalid(`${place}: no call ${id} waits for this answer${hint}`);
    }
    if (custom && !event.is_error && isApproval(call)) readAnswers(call.use.input, event.content ?? []);
    const answers = [...all, ...(await this.#store.inbox.list(row.id))].filter((other) => answersCall(other, id));
    if (answers.length > 1) throw invalid(`${place}: the call ${id} has been answered already`);
  }
}

const isAnswer = (event: ClientEvent): boolean => ANSWERS.includes(event.type);

const isSameAnswer = (event: ClientEvent, other: SessionEvent): boolean =>
  Object.entries(event).every(([key, value]) => isDeepStrictEqual(value, Reflect.get(other, key)));

const answersCall = (event: ClientEvent | SessionEvent, id: string): boolean =>
  (event.type === "user.tool_confirmation" && event.tool_use_id === id) ||
  (event.type === "user.custom_tool_result" && event.custom_tool_use_id === id);

function describeUpdate(
  row: SessionRow,
  params: SessionUpdateParams,
  by: string | undefined,
): { change: SessionChange; events: SessionEventBody[] } {
  const change: SessionChange = {};
  if (params.title !== undefined) change.title = params.title;
  if (params.metadata !== undefined) {
    change.metadata = mergeMetadata(row.metadata, params.metadata);
    checkMetadata(change.metadata);
  }
  if (params.budget !== undefined) {
    if (row.budget === null && params.budget !== null) {
      throw invalid("budget: a session that began without a budget cannot be given one");
    }
    change.budget = params.budget;
  }
  if (params.agent) {
    const servers = params.agent.mcp_servers ?? row.agent.mcp_servers;
    const tools = resolveTools(params.agent.tools ?? row.agent.tools, servers);
    change.agent = { ...row.agent, tools, mcp_servers: servers };
    // What people let the agent do as it was is not for another to inherit.
    const isNamed = Boolean(params.metadata?.[SESSION_METADATA.permissionMode]);
    if (!isNamed) change.metadata = withoutMode(change.metadata ?? row.metadata);
  }
  return { change, events: [{ type: "session.updated", ...change, ...(by !== undefined && { tandem: { by } }) }] };
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

const invalid = (message: string): RequestError =>
  new RequestError("invalid_request", `${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
