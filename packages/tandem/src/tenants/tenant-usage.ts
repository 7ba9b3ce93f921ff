import type { Clock, TenantQuotas, TenantUse } from "@tandem/protocol";
import type { Quotas, Store } from "@tandem/storage";
import { loadSessions } from "../compose.ts";

/** Reads a tenant's current usage and limits in the API's format. */
export const usageReader =
  (store: Store, limits: () => Quotas, clock: Clock): (() => Promise<{ quotas: TenantQuotas; use: TenantUse }>) =>
  async () => ({ quotas: toQuotas(limits()), use: await useOf(store, clock) });

export async function useOf(store: Store, clock: Clock): Promise<TenantUse> {
  const { takenNow } = await loadSessions();
  const { maxRunning, maxSessions, fileBytes, dailyUsd } = await takenNow(store, clock);
  return { running_turns: maxRunning, open_sessions: maxSessions, file_bytes: fileBytes, usd_today: dailyUsd };
}

export const toQuotas = ({ maxRunning, maxSessions, dailyUsd, fileBytes }: Quotas): TenantQuotas => ({
  turns: maxRunning ?? null,
  sessions: maxSessions ?? null,
  usd_per_day: dailyUsd ?? null,
  file_bytes: fileBytes ?? null,
});

/** Merges limits: a missing one is kept, null removes it. */
export function toLimits<Limits extends Quotas>(kept: Limits, given: Partial<TenantQuotas>): Limits {
  const names = {
    turns: "maxRunning",
    sessions: "maxSessions",
    usd_per_day: "dailyUsd",
    file_bytes: "fileBytes",
  } as const;
  const limits = { ...kept };
  for (const [quota, name] of Object.entries(names) as [keyof TenantQuotas, keyof Quotas][]) {
    const value = given[quota];
    if (value === null) delete limits[name];
    else if (value !== undefined) limits[name] = value;
  }
  return limits;
}
