import { isId, type SessionEvent, type SessionId } from "@tandem/protocol";
import type { OutcomeState, SessionRow, Store } from "@tandem/storage";
import type { KillSwitch } from "../budgets/kill-switch.ts";
import { findSessionRow } from "../log/find-session-row.ts";
import { isTurnInput } from "../log/outcome-prompt.ts";
import { newOutcome } from "../log/outcome-state.ts";

interface StatusDependencies {
  store: Pick<Store, "events" | "inputQueue" | "sessions">;
  killSwitch: Pick<KillSwitch, "state">;
}

/**
 * Reads a session with the status that clients see. A session that has accepted a message is `running` even if its writer has
 * not taken the message yet; otherwise, a client that polls until `idle` would stop before the turn.
 */
export async function readCurrent(parts: StatusDependencies, id: string): Promise<SessionRow> {
  // Read the queue before the row: a message taken in between shows in the row.
  const hasMessage = isId("session", id) && (await hasQueuedMessage(parts.store, id));
  const row = await findSessionRow(parts.store.sessions, id);
  return hasMessage ? withPending(await begun(parts, row), await parts.store.inputQueue.list(row.id)) : row;
}

/** Reads rows like `readCurrent`. */
export async function listCurrent<P extends { data: SessionRow[] }>(
  parts: StatusDependencies,
  list: () => Promise<P>,
): Promise<P> {
  const waiting = new Set<string>(await parts.store.inputQueue.sessions());
  const page = await list();
  const data = await Promise.all(
    page.data.map(async (row) => {
      const mayBegin = waiting.has(row.id) && row.status === "idle";
      if (!waiting.has(row.id)) return row;
      const pending = withPending(row, await parts.store.inputQueue.list(row.id));
      return mayBegin && (await hasQueuedMessage(parts.store, row.id)) ? begun(parts, pending) : pending;
    }),
  );
  return { ...page, data };
}

/** Adds outcomes that wait in the input queue. */
export function withPending(row: SessionRow, waiting: readonly SessionEvent[]): SessionRow {
  const pending = waiting.flatMap((event) =>
    event.type === "user.define_outcome" ? [newOutcome(event, "pending")] : [],
  );
  const isNew = ({ outcome_id: id }: OutcomeState): boolean => !row.outcomes?.some((known) => known.outcome_id === id);
  const added = pending.filter(isNew);
  return added.length === 0 ? row : { ...row, outcomes: [...(row.outcomes ?? []), ...added] };
}

const hasQueuedMessage = async ({ inputQueue }: Pick<Store, "inputQueue">, id: SessionId): Promise<boolean> =>
  (await inputQueue.list(id)).some(isTurnInput);

/** A message behind an approval, a spent budget, the kill switch or a failed worker does not begin a turn by itself. */
async function begun({ killSwitch, store }: StatusDependencies, row: SessionRow): Promise<SessionRow> {
  const isHeld = row.waitingFor.length > 0 || row.cutShort === "budget_reached";
  if (row.status !== "idle" || isHeld || (await killSwitch.state())) return row;
  return (await hasFailed(store.events, row.id)) ? row : { ...row, status: "running" };
}

/** A turn ends with its status. A log that ends with an error has a message that no worker could take. */
async function hasFailed(log: Store["events"], id: SessionId): Promise<boolean> {
  const [last] = await log.read(id, { after: (await log.head(id)) - 1, limit: 1 });
  return last?.event.type === "session.error";
}
