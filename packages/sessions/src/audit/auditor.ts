import type { AuditEntry, AuditHead, AuditNote, AuditVerdict, SessionId, Clock } from "@tandem/protocol";
import { verifyAudit, type AuditLog, type Page, type Store } from "@tandem/storage";
import type { Log } from "../host/host-settings.ts";
import { AUDITED, auditEvent } from "./audit-event.ts";
import { cleanNote } from "./clean-details.ts";

const EVENTS_AT_ONCE = 200;
const ENTRIES_AT_ONCE = 500;
const SESSIONS_AT_ONCE = 100;
/** Events within this time are recorded in one batch, because writers of the chain wait for each other. */
const GATHER_MS = 2_000;
/** Another process may have read the same part of a log: then continue from its cursor. */
const MAX_TRIES = 5;

/**
 * The audit log: one hash chain for all sessions and for actions outside sessions.
 *
 * Copies session logs into the audit log asynchronously, and resumes from its cursor after a crash. Each event is recorded
 * once, because entry and cursor share a transaction.
 */
export class Auditor {
  readonly #store: Store;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #waiting = new Set<SessionId>();
  readonly #names = new Map<SessionId, string>();
  #cancel: (() => void) | undefined;
  #stopListening: (() => void) | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(store: Store, { log, clock }: { log: Log; clock: Clock }) {
    this.#store = store;
    this.#log = log;
    this.#clock = clock;
  }

  /** Follows this process's writes, and reads unread logs in the background. */
  start(): void {
    this.#stopListening = this.#store.events.onAppend((session) => {
      this.#waiting.add(session);
      this.#cancel ??= this.#clock.after(GATHER_MS, () => this.#begin());
    });
    this.#enqueue(() => this.#catchUpAll());
  }

  /** Resolves when everything written until now has been read. */
  async stop(): Promise<void> {
    this.#stopListening?.();
    this.#begin();
    await this.#work;
  }

  /** Reads a session's log to its end: before its deletion, or before a query. */
  async catchUp(session: SessionId): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES;) {
      const { after, head } = await this.#store.audit.cursor(session);
      if (head <= after) return;
      const events = await this.#store.events.read(session, { after, limit: EVENTS_AT_ONCE, types: AUDITED });
      const isAll = events.length < EVENTS_AT_ONCE;
      const to = isAll ? Math.max(head, events.at(-1)?.seq ?? 0) : events.at(-1)!.seq;
      const who = { agent: await this.#agentOf(session) };
      const notes = events.flatMap((logged) => auditEvent(logged, who) ?? []);
      const entered = await this.#store.audit.append(
        notes.map((note) => ({ ...cleanNote(note), session })),
        { session, after, to },
      );
      if (entered && isAll) return;
      if (!entered) tries += 1;
    }
  }

  /** Records an action outside sessions. Secrets are redacted and long values truncated before it is stored. */
  async note(note: AuditNote): Promise<void> {
    await this.#store.audit.append([cleanNote(note)]);
  }

  async list(query: Parameters<AuditLog["list"]>[0]): Promise<Page<AuditEntry>> {
    await this.#settle();
    return this.#store.audit.list(query);
  }

  /** All entries up to the returned head, in order, including everything until now. */
  async export(): Promise<{ head: AuditHead; entries: AsyncIterable<AuditEntry> }> {
    await this.#settle();
    const head = await this.#store.audit.head();
    return { head, entries: this.#entries(head.seq) };
  }

  /** Verifies the whole chain; `noted` are heads that were recorded earlier. */
  async verify(noted: readonly AuditHead[]): Promise<AuditVerdict> {
    await this.#settle();
    const head = await this.#store.audit.head();
    return verifyAudit(this.#entries(head.seq), [head, ...noted]);
  }

  /** Includes this process's most recent writes. */
  async #settle(): Promise<void> {
    this.#begin();
    this.#enqueue(() => this.#catchUpAll());
    await this.#work;
  }

  async *#entries(upTo: number): AsyncGenerator<AuditEntry> {
    for (let after = 0; after < upTo;) {
      const some = await this.#store.audit.read(after, Math.min(ENTRIES_AT_ONCE, upTo - after));
      yield* some;
      // Missing entries are detected by readers.
      if (some.length === 0) return;
      after = some.at(-1)!.seq;
    }
  }

  #begin(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const sessions = [...this.#waiting];
    this.#waiting.clear();
    if (sessions.length > 0) this.#enqueue(() => this.#catchUpEach(sessions));
  }

  /** Serialised, because there is one chain. Failed reads are retried with the next event or at the next start. */
  #enqueue(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.#log.warn({ error: String(error) }, "the audit could not be written");
    });
  }

  async #catchUpEach(sessions: readonly SessionId[]): Promise<void> {
    for (const session of sessions) await this.catchUp(session);
  }

  async #catchUpAll(): Promise<void> {
    for (let before = ""; ;) {
      const sessions = await this.#store.audit.behind(SESSIONS_AT_ONCE);
      // The same sessions again: their writers are faster, or they cannot be read.
      if (sessions.length === 0 || sessions.join() === before) return;
      before = sessions.join();
      await this.#catchUpEach(sessions);
      if (sessions.length < SESSIONS_AT_ONCE) return;
    }
  }

  async #agentOf(session: SessionId): Promise<string> {
    const known = this.#names.get(session);
    if (known !== undefined) return known;
    const name = (await this.#store.sessions.get(session))?.agent.name ?? "unknown";
    if (this.#names.size > 1_000) this.#names.clear();
    this.#names.set(session, name);
    return name;
  }
}

export type Audit = Omit<Auditor, "start" | "stop" | "catchUp">;
