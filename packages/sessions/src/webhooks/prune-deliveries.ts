import type { Clock } from "@tandem/protocol";
import { DUE, recordPages, WEBHOOKS, type RecordChange, type Store } from "@tandem/storage";
import { DELIVERY, logKey, parseDueKey, readDue, readLogged } from "./delivery-record.ts";
import type { WebhookEndpoints } from "./webhook-endpoints.ts";

const DAY_MS = 24 * 60 * 60_000;
/** The delivery log keeps this many deliveries of an endpoint, for this long. */
const KEPT_DELIVERIES = 500;
const KEPT_MS = 7 * DAY_MS;
/** No delivery is tried for longer: its endpoint was disabled, removed, or belongs to a project that is not served. */
const ABANDONED_MS = 3 * DAY_MS;
const PAGE = 200;

interface PruneParts {
  store: Pick<Store, "records">;
  endpoints: WebhookEndpoints;
  clock: Clock;
}

/** Drops deliveries that will not be made, and old entries of the log. */
export async function pruneDeliveries({ store: { records }, endpoints, clock }: PruneParts): Promise<void> {
  const now = clock.now();
  // Read after the deliveries: the endpoint of a new one is then among them.
  const readStates = async () => new Map((await endpoints.list()).map(({ id, state }) => [id, state]));
  for await (const page of recordPages(records, WEBHOOKS, DUE, { pageSize: PAGE })) {
    const states = await readStates();
    const changes = page.flatMap(({ key, value }): RecordChange[] => {
      const [endpoint = ""] = key.split("/");
      const state = states.get(endpoint);
      const { announcement, created_at, attempts } = readDue(value);
      const { event, at: dueAt } = parseDueKey(key);
      if (state === "enabled" && Math.max(dueAt, Date.parse(created_at)) + ABANDONED_MS > now) return [];
      const at = new Date(now).toISOString();
      const logged = { announcement, created_at, state: "dropped", attempts, last_at: at, next_at: null, status: null };
      const detail = state === "disabled" ? "the endpoint was disabled" : "it was not delivered in time";
      return [
        { type: "delete", kind: DUE, key },
        ...(state === undefined
          ? []
          : [{ type: "put" as const, kind: DELIVERY, key: logKey(endpoint, event), value: { ...logged, detail } }]),
      ];
    });
    if (changes.length > 0) await records.write(WEBHOOKS, changes);
  }
  await pruneLog(records, readStates, now);
}

async function pruneLog(
  records: Store["records"],
  readEndpoints: () => Promise<ReadonlyMap<string, unknown>>,
  now: number,
): Promise<void> {
  let count = 0;
  let current = "";
  // Newest first, endpoint by endpoint.
  for await (const page of recordPages(records, WEBHOOKS, DELIVERY, { order: "desc", pageSize: PAGE })) {
    const endpoints = await readEndpoints();
    const old = page.filter(({ key, value }) => {
      const [endpoint = ""] = key.split("/");
      count = endpoint === current ? count + 1 : 1;
      current = endpoint;
      const isOld = Date.parse(readLogged(value).created_at) + KEPT_MS < now;
      return isOld || count > KEPT_DELIVERIES || !endpoints.has(endpoint);
    });
    if (old.length > 0) {
      const changes = old.map(({ key }) => ({ type: "delete" as const, kind: DELIVERY, key }));
      await records.write(WEBHOOKS, changes);
    }
  }
}
