import {
  RequestError,
  type BackgroundTask,
  type ClientEvent,
  type EventOf,
  type LoggedEvent,
  type Session,
  type SessionCreateParams,
  type SessionEvent,
  type SessionId,
  type SessionUpdateParams,
  type Thread,
} from "@tandem/protocol";
import type { EncodedEvent, EventRange, Page, SessionRow, SessionStore } from "@tandem/storage";
import type { CheckpointStores } from "@tandem/workspace";
import { listCurrent, readCurrent } from "./current-status.ts";
import type { SlashCommand } from "../commands/command-catalogue.ts";
import type { DeltaHub, PreviewListener } from "../log/delta-hub.ts";
import { findOpenSession, findSessionRow } from "../log/find-session-row.ts";
import { servedEvent, servedEvents, servedJson } from "../log/event-redactor.ts";
import type { RepositoryTokens } from "../mounts/repository-tokens.ts";
import { SessionResourceService } from "./session-resources.ts";
import { describeUpdate } from "./describe-update.ts";
import { Feed, type FeedItem } from "../log/feed.ts";
import type { Rules } from "../rules/kept-rules.ts";
import { archiveThread } from "./archive-thread.ts";
import { checkNoOpenRun } from "../workflows/check-no-open-run.ts";
import { SessionCreator, type SessionCreatorDependencies } from "./session-creator.ts";
import { SessionFolderService } from "./session-folder-service.ts";
import { sentBy } from "./sent-by.ts";
import type { RetriedSend, RunOfDeployment, Sessions, UseSessionId } from "./sessions.ts";
import { inQueueOrder, isAnswer, SentEvents } from "./sent-events.ts";
import { sessionView, threadView } from "../log/session-view.ts";
import type { WorkQueue } from "../work/work-queue.ts";

interface SessionServiceDependencies extends Omit<SessionCreatorDependencies, "changed" | "work"> {
  work: Pick<WorkQueue, "check" | "request" | "end">;
  tokens: RepositoryTokens;
  checkpointStores: CheckpointStores | undefined;
  rules: Pick<Rules, "forget">;
  deltas: DeltaHub;
  /** Removes checkpoints, transcripts and rules of a session. */
  forget: (row: SessionRow) => Promise<void>;
}

/** The operations of clients on sessions. Changes go through the session's single writer; reads need no lease. */
export class SessionService implements Sessions {
  readonly #dependencies: SessionServiceDependencies;
  readonly #feed: Feed;
  readonly #sent: SentEvents;
  readonly #creator: SessionCreator;
  readonly folder: SessionFolderService;
  readonly resources: SessionResourceService;

  constructor(dependencies: SessionServiceDependencies) {
    this.#dependencies = dependencies;
    this.#feed = new Feed(dependencies.store, dependencies.clock);
    this.#sent = new SentEvents(dependencies);
    this.#creator = new SessionCreator({ ...dependencies, changed: (id) => this.#feed.changed(id) });
    this.resources = new SessionResourceService({
      ...dependencies,
      open: (id) => this.#open(id),
      changed: (id) => this.#feed.changed(id),
    });
    this.folder = new SessionFolderService({
      ...dependencies,
      row: (id) => this.#row(id),
      open: (id) => this.#open(id),
    });
  }

  #view(row: SessionRow): Session {
    return sessionView(row, this.#dependencies.clock);
  }

  create(params: SessionCreateParams, by?: string, id?: SessionId, useId?: UseSessionId): Promise<Session> {
    return this.#creator.create(params, by, id, useId);
  }

  createAgain(params: SessionCreateParams, by: string, id: SessionId): Promise<Session> {
    return this.#creator.createAgain(params, by, id);
  }

  createForRun(params: SessionCreateParams, run: RunOfDeployment): Promise<void> {
    return this.#creator.createForRun(params, run);
  }

  discardFolder(id: SessionId): Promise<void> {
    return this.#creator.discardFolder(id);
  }

  check(params: SessionCreateParams): Promise<void> {
    return this.#creator.check(params);
  }

  async get(id: string): Promise<Session> {
    return this.#view(await readCurrent(this.#dependencies, id));
  }

  async list(query: Parameters<SessionStore["list"]>[0]): Promise<Page<Session>> {
    const page = await listCurrent(this.#dependencies, () => this.#dependencies.store.sessions.list(query));
    return { ...page, data: page.data.map((row) => this.#view(row)) };
  }

  async update(id: string, params: SessionUpdateParams, by?: string): Promise<Session> {
    const { id: session } = await this.#open(id);
    const { agents } = this.#dependencies;
    if (params.vault_ids !== undefined) throw fixedVaults();
    const metadata = params.metadata && (await this.#dependencies.options.metadata(params.metadata));
    const row = await this.#dependencies.actors.with(session, (actor) =>
      actor.change((current) => {
        if (params.agent) checkNoOpenRun(actor.runs);
        if (params.agent && actor.running) throw busy(id);
        const { change, events } = describeUpdate(current, { ...params, ...(metadata && { metadata }) }, by, agents);
        return {
          change,
          events: [...events, ...this.#dependencies.options.modeEvents(current.metadata, change.metadata, by)],
        };
      }),
    );
    if (params.agent) await this.#dependencies.rules.forget({ scope: "session", of: session });
    this.#feed.changed(session);
    // Input that waited for a larger budget or other limits can be taken now.
    if (params.budget !== undefined || params.metadata !== undefined) this.#dependencies.actors.wake(session);
    return this.#view(row);
  }

  async archive(id: string, by?: string): Promise<Session> {
    const row = await this.#row(id);
    if (row.archivedAt) return this.#view(row);
    const archived = await this.#dependencies.actors.with(row.id, (actor) => actor.archive(by));
    await this.#dependencies.actors.release(row.id);
    await this.#dependencies.work.end(row);
    await this.#dependencies.places.archived(archived);
    this.#feed.changed(row.id);
    return this.#view(archived);
  }

  async delete(id: string, by = "unknown"): Promise<void> {
    const row = await this.#row(id);
    await this.#dependencies.actors.with(row.id, (actor) =>
      actor.delete(async (current) => {
        await this.#dependencies.places.remove(current);
        await this.#dependencies.forget(current);
        // The audit must contain the log's entries before the log is deleted.
        await this.#dependencies.audit.catchUp(row.id);
        const usd = Number(row.usage.list_cost.amount) / 100;
        await this.#dependencies.audit.note({
          kind: "session.deleted",
          actor: by,
          session: row.id,
          details: { title: row.title, usd },
        });
      }),
    );
    await this.#dependencies.work.end(row);
    await this.#dependencies.rules.forget({ scope: "session", of: row.id });
    this.#feed.removed(row.id);
  }

  async send(id: string, events: readonly ClientEvent[], by?: string, retry?: RetriedSend): Promise<SessionEvent[]> {
    const row = await this.#open(id);
    const ids = retry?.ids ?? [];
    const sent = retry?.isResumed ? await this.#sent.sentBefore(row, ids) : undefined;
    // An answer counts only if no other one has come since it was checked.
    const after = events.some(isAnswer) ? await this.#dependencies.store.inputQueue.position(row.id) : undefined;
    const given = sent ?? (await this.#sent.answeredBefore(row, events));
    if (given) return given.map(servedEvent);
    const waiting = (await this.#sent.check(row, events)).map((event, index) =>
      sentBy(event, by, this.#dependencies.clock, ids[index]),
    );
    await this.#dependencies.actors.claim(row.id);
    try {
      await this.#dependencies.store.inputQueue.put(
        row.id,
        inQueueOrder(waiting),
        after === undefined ? {} : { after },
      );
    } catch (error) {
      if (!(error instanceof RequestError) || error.code !== "conflict") throw error;
      // A try that counted as dead was only slow.
      const slow = retry && (await this.#sent.sentBefore(row, ids));
      if (slow) return slow.map(servedEvent);
      const isStale = after !== undefined && (await this.#dependencies.store.inputQueue.position(row.id)) !== after;
      if (isStale) return this.send(id, events, by, retry);
      throw error;
    }
    if (!events.every(isWorkerResult)) await this.#dependencies.work.request(row);
    this.#dependencies.actors.wake(row.id);
    return waiting.map(servedEvent);
  }

  async opened(id: string): Promise<void> {
    await this.#dependencies.actors.reopen(id as SessionId);
  }

  async takeBack(id: string, event: string, by?: string): Promise<void> {
    const row = await this.#open(id);
    if (await this.#dependencies.actors.with(row.id, (actor) => actor.takeBack(event, by))) return;
    if (!(await this.#dependencies.store.events.find(row.id, event))) {
      throw new RequestError("not_found", `No message ${event} waits in the session ${row.id}.`);
    }
    throw new RequestError("conflict", `The agent has already received the message ${event}.`, {
      fix: "Interrupt the turn, or rewind to before the message.",
    });
  }

  async events(id: string, range: EventRange): Promise<{ events: LoggedEvent[]; waiting: SessionEvent[] }> {
    const { events: log } = this.#dependencies.store;
    const page = await this.#page(id, range, (session) => log.read(session, range));
    return { ...page, events: servedEvents(page.events) };
  }

  async encodedEvents(id: string, range: EventRange): Promise<{ events: EncodedEvent[]; waiting: SessionEvent[] }> {
    const { events: log } = this.#dependencies.store;
    const page = await this.#page(id, range, (session) => log.readEncoded(session, range));
    return { ...page, events: page.events.map(servedJson) };
  }

  async #page<E extends LoggedEvent | EncodedEvent>(
    id: string,
    range: EventRange,
    read: (session: SessionId) => Promise<E[]>,
  ): Promise<{ events: E[]; waiting: SessionEvent[] }> {
    const row = await this.#row(id);
    const { id: session } = row;
    // Read the queue before the log: an event moved between the two reads is then seen twice, never lost.
    const waiting = await this.#dependencies.store.inputQueue.list(session);
    const events = await read(session);
    const taken = new Set(events.map((entry) => ("event" in entry ? entry.event.id : entry.id)));
    const atEnd = range.order !== "desc" ? events.length < range.limit : range.before === undefined;
    const shown = waiting.filter(({ id: event, type }) => !taken.has(event) && (range.types?.includes(type) ?? true));
    const isWanted = atEnd && (range.thread ?? null) === null && !range.since;
    const explained = isWanted && shown.length > 0 ? await this.#withReason(row, shown) : [];
    // A result has its time since it was sent, and is in the log only once a turn has taken it.
    return { events, waiting: explained.map((event) => servedEvent({ ...event, processed_at: null })) };
  }

  /** A message that waits behind a running turn needs no explanation; one in an idle session does. */
  async #withReason(row: SessionRow, waiting: readonly SessionEvent[]): Promise<SessionEvent[]> {
    const { actors, store } = this.#dependencies;
    if (row.status !== "idle" || (await actors.present(row.id))) return [...waiting];
    const held = await store.leases.holder(row.id);
    if (!held) return [...waiting];
    const reason = `The session is held by ${held.holder}.`;
    return waiting.map((event) =>
      event.type === "user.message" ? { ...event, tandem: { ...event.tandem, waits_for: reason } } : event,
    );
  }

  async head(id: string): Promise<number> {
    return this.#dependencies.store.events.head((await this.#row(id)).id);
  }

  async position(id: string, event: string): Promise<number | undefined> {
    return (await this.#dependencies.store.events.find((await this.#row(id)).id, event))?.seq;
  }

  async *follow(id: SessionId, after: number, signal: AbortSignal): AsyncIterable<LoggedEvent[]> {
    for await (const events of this.#dependencies.store.events.follow(id, after, signal)) yield servedEvents(events);
  }

  async *followEncoded(id: SessionId, after: number, signal: AbortSignal): AsyncIterable<EncodedEvent[]> {
    const { events: log } = this.#dependencies.store;
    for await (const events of log.followEncoded(id, after, signal)) yield events.map(servedJson);
  }

  onDelta(id: SessionId, listener: PreviewListener): () => void {
    return this.#dependencies.deltas.listen(id, listener);
  }

  previews(id: SessionId, after: number): ReturnType<DeltaHub["snapshot"]> {
    return this.#dependencies.deltas.snapshot(id, after);
  }

  async threads(id: string): Promise<Thread[]> {
    const row = await readCurrent(this.#dependencies, id);
    const { store, clock } = this.#dependencies;
    return (await store.sessions.threads(row.id)).map((thread) => threadView(thread, row, clock));
  }

  async archiveThread(id: string, thread: string, by?: string): Promise<Thread> {
    const row = await this.#open(id);
    await this.#dependencies.actors.with(row.id, (actor) =>
      actor.change(async () => ({
        change: {},
        events: await archiveThread(actor, thread, { inputQueue: this.#dependencies.store.inputQueue, by }),
      })),
    );
    this.#dependencies.actors.wake(row.id);
    this.#feed.changed(row.id);
    return (await this.threads(row.id)).find((each) => each.id === thread)!;
  }

  async tasks(id: string): Promise<BackgroundTask[]> {
    return [...((await this.#dependencies.actors.present((await this.#row(id)).id))?.tasks ?? [])];
  }

  async stopTask(id: string, taskId: string): Promise<void> {
    const { id: session } = await this.#row(id);
    const actor = await this.#dependencies.actors.present(session);
    if (!actor) throw new RequestError("not_found", `The session has no background task ${taskId}.`);
    await actor.stopTask(taskId);
  }

  async commands(id: string): Promise<SlashCommand[]> {
    return this.#dependencies.commands.list(await this.#row(id));
  }

  async commandsIn(folder: string): Promise<SlashCommand[]> {
    return this.#dependencies.commands.list({ folder: await this.#dependencies.places.resolve(folder) });
  }

  async shell(id: string, command: string, by: string, signal: AbortSignal): Promise<EventOf<"tandem.shell">> {
    const row = await this.#open(id);
    const { exitCode, output, truncated } = await this.#dependencies.commands.shell(row, command, signal);
    const event = { type: "tandem.shell" as const, command, exit_code: exitCode, output, truncated, by };
    await this.#dependencies.actors.with(row.id, (actor) => actor.change(() => ({ change: {}, events: [event] })));
    const [last] = await this.#dependencies.store.events.read(row.id, {
      order: "desc",
      limit: 1,
      types: ["tandem.shell"],
    });
    return last?.event as EventOf<"tandem.shell">;
  }

  /** Adds a session that was not made by `create` to the feed. */
  announce({ id }: SessionRow): void {
    this.#feed.changed(id);
  }

  feed(signal: AbortSignal): AsyncIterable<FeedItem> {
    return this.#feed.follow(signal);
  }

  modelUsage(span: { from: string; to: string }): ReturnType<Sessions["modelUsage"]> {
    return this.#dependencies.store.sessions.modelUsage(span);
  }

  usage(span: { from: string; to: string }): ReturnType<Sessions["usage"]> {
    return this.#dependencies.store.sessions.usage(span);
  }

  #row(id: string): Promise<SessionRow> {
    return findSessionRow(this.#dependencies.store.sessions, id);
  }

  #open(id: string): Promise<SessionRow> {
    return findOpenSession(this.#dependencies.store.sessions, id);
  }
}

const fixedVaults = (): RequestError =>
  new RequestError("invalid_request", "vault_ids: the vaults of a session cannot be changed after its creation.", {
    fix: "Add the credential to one of its vaults, or create another session.",
  });

/** A worker that sends a result has the session's work item. */
const isWorkerResult = ({ type }: ClientEvent): boolean => type === "user.tool_result";

const busy = (id: string): RequestError =>
  new RequestError("conflict", `The agent of the session ${id} cannot be changed while a turn is running.`, {
    fix: "Interrupt it, or wait until it is idle.",
  });
