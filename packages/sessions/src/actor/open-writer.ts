import { RequestError } from "@tandem/protocol";
import type { Lease } from "@tandem/storage";
import { SessionWriter } from "../log/session-writer.ts";
import { UsageLedger } from "../log/usage-ledger.ts";
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
  const ledger = new UsageLedger(row.primaryThread, { note, activeMs: row.activeMs });
  const threads = await store.sessions.threads(row.id);
  return { writer: new SessionWriter({ ...dependencies, lease, row, ledger, threads, onLost }), ledger };
}
