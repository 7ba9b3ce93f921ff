import { systemClock } from "@tandem/protocol";
import type { Fleet } from "@tandem/sessions";
import { loadQueue, loadSessions, openStore } from "../compose.ts";
import { storeLocation } from "../config/store-location.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";

/** Reads the fleet from the store and its queue, for a command without a running server. */
export async function openLocalFleet(host: Host, project: Project): Promise<Fleet & AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  const store = parts.use(await openStore(host, project));
  const { location, directUrl } = await storeLocation(host, project);
  // An in-memory queue exists only in the process that created it.
  const isShared = (await store.describe()).engine === "postgres";
  const queue = isShared ? parts.use(await (await loadQueue()).openPostgresQueue(location, { directUrl })) : undefined;
  const { AccountLimits, createFleet } = await loadSessions();
  const fleet = createFleet({
    store,
    records: store.records,
    limits: new AccountLimits(store.records, systemClock),
    queue,
    here: undefined,
    clock: systemClock,
    note: async (note) => void (await store.audit.append([note])),
  });
  const owned = parts.move();
  return { ...fleet, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
