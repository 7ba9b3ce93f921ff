import { newId } from "@tandem/protocol";
import { deleteRecords, recordPages, type RecordChange, type Records } from "@tandem/storage";
import { z } from "zod";
import { tryWrite } from "../host/until-written.ts";
import { newWorkItem, workItem, type WorkItem } from "./work-item.ts";

const SPACE = "work";
const ITEM = "work_item";
/** The item of each session that has not stopped. It exists exactly as long as that item has not stopped. */
const LIVE = "work_live";
const POLLER = "work_poller";

const live = z.object({ work: z.string() });
const poller = z.object({ at: z.number() });

export interface StoredWork {
  item: WorkItem;
  version: number;
}

/** Work items in the store. Every change of an item expects the version that was read, so that one writer wins. */
export class WorkStore {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async get(environment: string, id: string): Promise<StoredWork | undefined> {
    const found = await this.#records.get(SPACE, ITEM, `${environment}/${id}`);
    return found && { item: workItem.parse(found.value), version: found.version };
  }

  /** The item of a session that has not stopped. */
  async ofSession(environment: string, session: string): Promise<StoredWork | undefined> {
    const found = await this.#records.get(SPACE, LIVE, `${environment}/${session}`);
    return found && this.get(environment, live.parse(found.value).work);
  }

  /** All items of an environment that have not stopped, oldest first. */
  async live(environment: string): Promise<StoredWork[]> {
    const items: StoredWork[] = [];
    for await (const page of recordPages(this.#records, SPACE, LIVE, { prefix: `${environment}/` })) {
      const keys = page.map(({ value }) => `${environment}/${live.parse(value).work}`);
      const found = await this.#records.getMany(SPACE, ITEM, keys);
      items.push(...found.map(({ value, version }) => ({ item: workItem.parse(value), version })));
    }
    return items.filter(({ item }) => item.state !== "stopped").sort((a, b) => (a.item.id < b.item.id ? -1 : 1));
  }

  /** Newest first. */
  async list(environment: string, { limit, cursor }: { limit: number; cursor?: string | undefined }) {
    const found = await this.#records.list(SPACE, ITEM, {
      prefix: `${environment}/`,
      order: "desc",
      limit: limit + 1,
      ...(cursor !== undefined && { after: `${environment}/${cursor}` }),
    });
    const items = found.slice(0, limit).map(({ value }) => workItem.parse(value));
    return { items, next: found.length > limit ? items.at(-1)!.id : null };
  }

  /** Creates the session's item. Returns false if it has one that has not stopped. */
  create(item: WorkItem): Promise<boolean> {
    return this.#write(creation(item));
  }

  /** Returns false if the item has changed since it was read. */
  change({ version }: StoredWork, item: WorkItem): Promise<boolean> {
    return this.#write([put(item, version)]);
  }

  /** Stops an item and, with `again`, queues another one for its session. Returns false if it has changed since. */
  stop({ version }: StoredWork, item: WorkItem, again: boolean, now: number): Promise<boolean> {
    const next = again ? creation(nextItem(item, now)) : [];
    return this.#write([
      put(item, version),
      { type: "delete", kind: LIVE, key: `${item.environment}/${item.session}` },
      ...next,
    ]);
  }

  async notePoll(environment: string, worker: string, now: number): Promise<void> {
    const key = `${environment}/${worker}`;
    await this.#records.write(SPACE, [{ type: "put", kind: POLLER, key, value: { at: now } }]);
  }

  /** How many workers have polled since then. Forgets the others. */
  async pollers(environment: string, since: number): Promise<number> {
    let count = 0;
    for await (const page of recordPages(this.#records, SPACE, POLLER, { prefix: `${environment}/` })) {
      const gone = page.filter(({ value }) => poller.parse(value).at < since);
      count += page.length - gone.length;
      const changes = gone.map(({ key }): RecordChange => ({ type: "delete", kind: POLLER, key }));
      if (changes.length > 0) await this.#records.write(SPACE, changes);
    }
    return count;
  }

  /** Deletes items that stopped, and workers that polled last, before these times. */
  async prune(before: { stopped: string; polled: number }): Promise<void> {
    const isOldItem = (value: unknown): boolean =>
      ((at) => at !== null && at < before.stopped)(workItem.parse(value).stoppedAt);
    const isOldPoller = (value: unknown): boolean => poller.parse(value).at < before.polled;
    for (const [kind, isOld] of [
      [ITEM, isOldItem],
      [POLLER, isOldPoller],
    ] as const) {
      await deleteRecords(this.#records, SPACE, kind, { isGone: ({ value }) => isOld(value) });
    }
  }

  #write(changes: readonly RecordChange[]): Promise<boolean> {
    return tryWrite(this.#records.write(SPACE, changes));
  }
}

const put = (item: WorkItem, version: number): RecordChange => ({
  type: "put",
  kind: ITEM,
  key: `${item.environment}/${item.id}`,
  value: item,
  version,
});

const creation = (item: WorkItem): RecordChange[] => [
  { type: "put", kind: LIVE, key: `${item.environment}/${item.session}`, value: { work: item.id }, version: 0 },
  put(item, 0),
];

const nextItem = ({ environment, session, ttlMs }: WorkItem, now: number): WorkItem =>
  newWorkItem({ id: newId("work", now), environment, session, ttlMs }, now);
