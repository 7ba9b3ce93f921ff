import type { Clock } from "@tandem/protocol";
import type { Quotas, Store } from "@tandem/storage";
import { toShown } from "../budgets/amounts.ts";
import { today } from "../budgets/budget-hook.ts";
import { keptBytes, openSessions } from "./limit-store.ts";

/** The current use of a store's quotas. */
export async function takenNow(
  store: Pick<Store, "sessions" | "files" | "records" | "spending">,
  clock: Clock,
): Promise<Required<Quotas>> {
  const [maxRunning, maxSessions, fileBytes, accounts] = await Promise.all([
    openSessions({ list: (query) => store.sessions.list({ ...query, statuses: ["running"] }) }),
    openSessions(store.sessions),
    keptBytes(store),
    store.spending.read({ scope: "day", of: today(clock) }),
  ]);
  const spent = accounts.find(({ unit }) => unit === "usd")?.spent ?? 0;
  return { maxRunning, maxSessions, fileBytes, dailyUsd: toShown("usd", spent) };
}
