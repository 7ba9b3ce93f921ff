import { createHash, randomUUID } from "node:crypto";
import { isId, newId, RequestError, sleep, systemClock, type Clock, type IdKind } from "@tandem/protocol";
import { deleteRecords, type Records } from "@tandem/storage";
import { expiryMs, journalPage, type JournalEntry, type JournalPage } from "./journal-page.ts";
import { repeatWindowMs } from "./repeat-window.ts";

// Makes requests safe to retry. The official clients retry when an answer is lost. They send no key, only the number of the
// try, so that a retry is matched with an earlier request that has the same token, address and body. A request with the number
// 0 runs, unless a retry has overtaken it on its way to the database. With an `Idempotency-Key`, all requests with that key are one.

const SPACE = "requests";
const KIND = "request";
/** A running request renews its entry this often. */
const BEAT_MS = 5_000;
/** A request that misses so many renewals ended with its process. */
const MISSED_BEATS = 3;
const POLL_MS = 250;
const SWEEP_MS = 3_600_000;
const SWEPT_AT_ONCE = 200;
const MAX_ANSWER = 256 * 1024;
const SHORTEST_WINDOW_MS = 60_000;
/** Pages of requests under way; a bound for those that end without an answer. */
const MOST_REMEMBERED = 256;

export interface JournalRequest {
  token: string;
  /** Method and URL. */
  address: string;
  /** SHA-256 of the body, independent of its encoding. */
  body: string;
  /** The `Idempotency-Key`. */
  key?: string | undefined;
  /** The number of the try, if the client counts them. */
  tryNumber?: number | undefined;
  /** The time after which the client gives up a try. */
  timeoutMs?: number | undefined;
  /** How long ago it arrived at this process. */
  waitedMs?: number;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
  /** Reports once whether the answer was lost. */
  onClosed: (report: (isLost: boolean) => void) => void;
}

export interface Execution {
  /** Ids that are the same if the request is executed again. `index` tells several ids of a kind apart. */
  newId: <K extends IdKind>(kind: K, index?: number) => ReturnType<typeof newId<K>>;
  /**
   * Makes `newId(kind)` return this id if the request is executed again. Call it before anything is stored under the id.
   * Resolves with false if another process has taken over the request: then the id must not be used.
   */
  useId: <K extends IdKind>(kind: K, id: ReturnType<typeof newId<K>>) => Promise<boolean>;
  /** The request was executed before, at least in part: it may have had its effect. */
  isResumed: boolean;
}

/** The execution of a request that no retry repeats. */
export const ONLY_EXECUTION: Execution = {
  newId: (kind) => newId(kind),
  useId: () => Promise.resolve(true),
  isResumed: false,
};

export interface JournalOptions {
  /** The answer contains a secret. */
  isSecret?: boolean;
  /** Executed again with the same ids, it has no second effect and the same answer, so that the answer is not kept. */
  isRepeatable?: boolean;
}

interface Executed extends Required<JournalOptions> {
  execute: (execution: Execution) => Promise<unknown>;
  isResumed: boolean;
}

type EntryKey = Pick<JournalEntry, "id" | "begun" | "ids" | "takeovers">;
type Found = ({ type: "run" | "follow" } & EntryKey) | { type: "other" };
type Outcome = { type: "answered" | "dead"; entry: JournalEntry } | { type: "gone" };

export class RequestJournal {
  readonly #records: Records;
  readonly #warn: (details: object, text: string) => void;
  /** Requests that this process runs. */
  readonly #running = new Map<string, Promise<void>>();
  /** Pages as this process wrote them. A write with an old version is refused, and then the page is read. */
  readonly #entered = new Map<string, JournalPage & { version: number }>();
  readonly #clock: Clock;
  readonly #beatMs: number;
  #sweptAt = 0;

  constructor(
    records: Records,
    warn: (details: object, text: string) => void,
    { clock = systemClock, beatMs = BEAT_MS }: { clock?: Clock | undefined; beatMs?: number } = {},
  ) {
    this.#records = records;
    this.#warn = warn;
    this.#clock = clock;
    this.#beatMs = beatMs;
  }

  /** Runs the request, or returns the answer of the earlier request that it repeats. */
  async run(
    request: JournalRequest,
    execute: (execution: Execution) => Promise<unknown>,
    { isSecret = false, isRepeatable = false }: JournalOptions = {},
  ): Promise<unknown> {
    const { token, address, body, key, tryNumber } = request;
    if (key === undefined && tryNumber === undefined) return execute(ONLY_EXECUTION);
    const same = hash([token, address, body]);
    const place = key === undefined ? `try/${same}` : `key/${hash([token, key])}`;
    void this.#sweep();
    const work = { execute, isSecret, isRepeatable };
    for (;;) {
      const found = await this.#find(place, same, request);
      if (found.type === "other") {
        throw new RequestError("conflict", "The Idempotency-Key was used for another request.", {
          fix: "Use a new key for each request, and the same key and body only to retry it.",
        });
      }
      if (found.type === "run") return this.#execute(place, found, request, { ...work, isResumed: false });
      const outcome = await this.#follow(place, found.id, request.signal);
      if (outcome.type === "gone") continue;
      const { entry } = outcome;
      if (outcome.type === "dead") return this.#execute(place, entry, request, { ...work, isResumed: true });
      this.#watch(place, found.id, request);
      if (entry.omitted === "repeatable") return execute(this.#execution(place, entry, true));
      if (entry.omitted) {
        throw new RequestError("conflict", "The request was carried out, but its answer was not stored.", {
          fix: entry.omitted === "secret" ? "It contains a secret: create another one." : "It is too large: read it.",
        });
      }
      return JSON.parse(entry.answer ?? "null") as unknown;
    }
  }

  /** Finds the request that this one repeats, or enters it as a new one. */
  #find(place: string, same: string, request: JournalRequest): Promise<Found> {
    const now = this.#clock.now();
    return this.#change(place, same, (page): Found => {
      if (request.key !== undefined && page.request !== same && page.entries.length > 0) return { type: "other" };
      const earlier = request.key !== undefined ? page.entries[0] : repeated(page.entries, request, now);
      if (earlier) {
        if (request.key === undefined) earlier.used.push(request.tryNumber!);
        return { type: "follow", id: earlier.id, begun: earlier.begun };
      }
      const { tryNumber: by = 0 } = request;
      const entry: JournalEntry = { id: randomUUID(), begun: now, ...(by > 0 && { by }), beat: 0, used: [] };
      page.request = same;
      page.entries.push(entry);
      return { type: "run", id: entry.id, begun: now };
    });
  }

  async #execute(place: string, found: EntryKey, request: JournalRequest, work: Executed): Promise<unknown> {
    const { id } = found;
    const done = Promise.withResolvers<void>();
    this.#running.set(id, done.promise);
    const renew = (): void => void this.#edit(place, id, (entry) => void (entry.beat += 1)).catch(() => undefined);
    const stopRenewing = this.#clock.every(this.#beatMs, renew);
    try {
      const value = await work.execute(this.#execution(place, found, work.isResumed)).catch(async (error: unknown) => {
        await this.#fail(place, found, work.isRepeatable && !isRefusal(error)).catch(() => undefined);
        throw error;
      });
      await this.#keep(place, id, value, work);
      this.#watch(place, id, request);
      return value;
    } finally {
      stopRenewing();
      this.#running.delete(id);
      done.resolve();
    }
  }

  #execution(place: string, found: EntryKey, isResumed: boolean): Execution {
    return {
      newId: idsOf(found),
      useId: async (kind, used) => {
        // In one write with the check: a process that takes over reads the id, or this one learns that it came too late.
        const isStored = await this.#edit(place, found.id, (entry) => {
          if (entry.takeovers !== found.takeovers) return false;
          entry.ids = { ...entry.ids, [kind]: used };
          return true;
        });
        return isStored === true;
      },
      isResumed,
    };
  }

  /** A retry of a refused or failed request is checked again; with the same ids if it may have had its effect. */
  async #fail(place: string, { id, takeovers }: EntryKey, keepsIds: boolean): Promise<void> {
    if (!keepsIds) {
      // The entry of a request that was taken over belongs to the process that runs it now.
      const isOwn = (entry: JournalEntry): boolean => entry.id === id && entry.takeovers === takeovers;
      return this.#change(place, "", (page) => void (page.entries = page.entries.filter((entry) => !isOwn(entry))));
    }
    await this.#edit(place, id, (entry) => Object.assign(entry, { answered: this.#clock.now(), ...UNKNOWN_EFFECT }));
  }

  async #keep(place: string, id: string, value: unknown, { isSecret, isRepeatable }: Executed): Promise<void> {
    const answer = JSON.stringify(value ?? null);
    const kept = answer.length > MAX_ANSWER ? "large" : undefined;
    const omitted = isSecret ? "secret" : isRepeatable ? "repeatable" : kept;
    try {
      await this.#edit(place, id, (entry) => {
        entry.answered = this.#clock.now();
        if (omitted) entry.omitted = omitted;
        else entry.answer = answer;
      });
    } catch (error) {
      // The request was carried out; only its retry is not recognised.
      this.#warn({ err: error }, "the answer to a request could not be kept");
    }
  }

  /** Resolves when the request is answered; `dead` if its process has ended. */
  async #follow(place: string, id: string, signal: AbortSignal): Promise<Outcome> {
    let [beat, since] = [-1, this.#clock.monotonic()];
    for (;;) {
      await this.#running.get(id);
      if (signal.aborted) throw new RequestError("unavailable", "The client has disconnected.");
      const entry = (await this.#read(place)).entries.find((each) => each.id === id);
      if (!entry) return { type: "gone" };
      if (entry.answered !== undefined) return { type: "answered", entry };
      if (entry.beat !== beat) [beat, since] = [entry.beat, this.#clock.monotonic()];
      else if (this.#clock.monotonic() - since > MISSED_BEATS * this.#beatMs) {
        // Of several that wait, one resumes it.
        const taken = await this.#edit(place, id, (current) => {
          if (current.beat !== beat) return undefined;
          Object.assign(current, { beat: beat + 1, takeovers: (current.takeovers ?? 0) + 1 });
          return { ...current };
        });
        if (taken) return { type: "dead", entry: taken };
      }
      await sleep(this.#clock, POLL_MS, { signal, keepsProcess: true });
    }
  }

  /** A lost answer can be asked for much later: after its timeout. */
  #watch(place: string, id: string, { onClosed }: JournalRequest): void {
    onClosed((isLost) => {
      if (isLost) void this.#edit(place, id, (entry) => void (entry.isLost = true)).catch(() => undefined);
    });
  }

  #edit<T>(place: string, id: string, change: (entry: JournalEntry) => T): Promise<T | undefined> {
    return this.#change(place, "", ({ entries }) => {
      const entry = entries.find((each) => each.id === id);
      return entry && change(entry);
    });
  }

  async #read(place: string): Promise<JournalPage & { version: number }> {
    const record = await this.#records.get(SPACE, KIND, place);
    return { ...journalPage.parse(record?.value ?? { request: "", entries: [] }), version: record?.version ?? 0 };
  }

  /** Changes a page atomically. `change` is called again if another process was faster, or this one with another request. */
  async #change<T>(place: string, same: string, change: (page: JournalPage) => T): Promise<T> {
    for (;;) {
      const known = this.#entered.get(place);
      this.#entered.delete(place);
      const { version, ...page } = known ?? (await this.#read(place));
      page.request ||= same;
      page.entries = page.entries.filter(({ begun }) => begun > this.#clock.now() - expiryMs);
      const result = change(page);
      try {
        await this.#records.write(SPACE, [{ type: "put", kind: KIND, key: place, value: page, version }]);
        if (page.entries.some(({ answered }) => answered === undefined)) {
          this.#remember(place, { ...page, version: version + 1 });
        }
        return result;
      } catch (error) {
        if (!(error instanceof RequestError) || error.code !== "conflict") throw error;
      }
    }
  }

  /** The next change of a page is usually made by this process, too: it need not be read again. */
  #remember(place: string, page: JournalPage & { version: number }): void {
    if (this.#entered.size >= MOST_REMEMBERED) this.#entered.clear();
    this.#entered.set(place, page);
  }

  /** Deletes expired pages, at most once an hour. */
  async #sweep(): Promise<void> {
    const now = this.#clock.now();
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    try {
      await deleteRecords(this.#records, SPACE, KIND, {
        pageSize: SWEPT_AT_ONCE,
        isGone: ({ updatedAt }) => Date.parse(updatedAt) < now - expiryMs,
      });
    } catch (error) {
      this.#warn({ err: error }, "answers that have expired could not be deleted");
    }
  }
}

/** The earlier request that a retry repeats: one without an answer, or whose answer was lost, before one just answered. */
function repeated(
  entries: readonly JournalEntry[],
  { tryNumber = 0, timeoutMs = 0, waitedMs = 0 }: JournalRequest,
  now: number,
): JournalEntry | undefined {
  if (tryNumber === 0) return entries.find((entry) => isOvertaken(entry, now - waitedMs));
  const isOpen = ({ answered, isLost }: JournalEntry): boolean => answered === undefined || isLost === true;
  const longMs = Math.max(SHORTEST_WINDOW_MS, 2 * timeoutMs);
  return entries
    .filter((entry) => !entry.used.includes(tryNumber))
    .filter((entry) => (isOpen(entry) ? now - entry.begun < longMs : now - entry.answered! < repeatWindowMs(tryNumber)))
    .toSorted((a, b) => Number(isOpen(b)) - Number(isOpen(a)) || b.begun - a.begun)[0];
}

/** The first try reached a server that could not enter it for so long that its client has sent a retry, which ran. */
const isOvertaken = ({ by = 0, begun, used }: JournalEntry, arrivedAt: number): boolean =>
  by > 0 && begun > arrivedAt && !used.includes(0);

const hash = (parts: readonly string[]): string => createHash("sha256").update(JSON.stringify(parts)).digest("hex");

const idsOf =
  ({ id, begun, ids }: EntryKey): Execution["newId"] =>
  (kind, index = 0) => {
    const used = ids?.[kind];
    if (index === 0 && used !== undefined && isId(kind, used)) return used;
    return newId(kind, begun, createHash("sha256").update(`${id} ${kind} ${index}`).digest());
  };

const UNKNOWN_EFFECT = { omitted: "repeatable", isLost: true } as const;

/** Whether the request certainly had no effect. */
const isRefusal = (error: unknown): boolean => error instanceof RequestError && error.code !== "unavailable";
