import { RequestError, STATUS_EVENTS, StatusTimes } from "@tandem/protocol";
import type { Lease, SessionRow } from "@tandem/storage";
import { SessionWriter } from "../log/session-writer.ts";
import { UsageLedger } from "../log/usage-ledger.ts";
import { readOpenRuns } from "../log/open-runs.ts";
import type { ActorDependencies } from "./actor-dependencies.ts";

/** Reads the state of a session, and continues its usage from where the last writer left it. */
export async function openWriter(
  dependencies: ActorDependencies,
  lease: Lease,
  onLost: (error: unknown) => void,
): Promise<{ writer: SessionWriter; ledger: UsageLedger }> {
  const { store } = dependencies;
  const row = await store.sessions.get(lease.session);
  if (!row) throw new RequestError("not_found", `There is no session ${lease.session}.`);
  const [last] = await store.events.read(row.id, { order: "desc", limit: 1, types: ["session.usage"] });
  const note = last?.event.type === "session.usage" ? last.event.tandem : undefined;
  const { clock } = dependencies.settings;
  const ledger = new UsageLedger(row.primaryThread, clock, { note, times: await readTimes(dependencies, row) });
  const threads = await store.sessions.threads(row.id);
  const runs = await readOpenRuns(store.events, row);
  return { writer: new SessionWriter({ ...dependencies, lease, row, ledger, threads, runs, onLost }), ledger };
}

/** If the last writer died during a turn, its time counts up to its last event. */
async function readTimes(
  { store, settings }: Pick<ActorDependencies, "store" | "settings">,
  { id, status, activeMs }: SessionRow,
): Promise<StatusTimes> {
  if (status !== "running") return new StatusTimes({ activeMs });
  const newest = { order: "desc", limit: 1 } as const;
  const [since] = await store.events.read(id, { ...newest, types: STATUS_EVENTS });
  const [last] = await store.events.read(id, newest);
  const wasRunning = since?.event.type === "session.status_running" || since?.event.type === "tandem.recovered";
  const unsettled = wasRunning
    ? Date.parse(last?.event.processed_at ?? "") - Date.parse(since.event.processed_at ?? "")
    : 0;
  return new StatusTimes({
    activeMs: activeMs + (unsettled || 0),
    ...(wasRunning && { runningSince: settings.clock.now() }),
  });
}
