import type { LoggedEvent } from "@tandem/protocol";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { feed } from "../../live/session-feed.ts";
import { useLive } from "../../live/live-value.ts";

const PAGE = 2_000;
/** A longer log is cut at its beginning, and the page says so. */
const MOST = 40_000;

export interface WholeLog {
  events: LoggedEvent[];
  isWhole: boolean;
}

/** Reads all events of a session. Later reads fetch only new events. */
export function useWholeLog(session: string) {
  const queries = useQueryClient();
  const updatedAt = useLive(feed.sessions).get(session)?.updated_at ?? "";
  const key = [`/v1/sessions/${session}/log`, "whole"];
  return useQuery({
    queryKey: [...key, updatedAt],
    queryFn: async ({ signal }) => {
      const known = queries.getQueryData<WholeLog>(key);
      const log = await readBack(session, known?.events.at(-1)?.seq ?? 0, signal);
      const whole = known ? { events: [...known.events, ...log.events], isWhole: known.isWhole } : log;
      queries.setQueryData(key, whole);
      return whole;
    },
    placeholderData: (before) => before,
  });
}

async function readBack(session: string, after: number, signal: AbortSignal): Promise<WholeLog> {
  const pages: LoggedEvent[][] = [];
  let count = 0;
  for (let before: number | undefined; ;) {
    const page: { data: LoggedEvent[]; before: number | null } = await api.call("sessions.log.list", {
      params: { session_id: session },
      query: { limit: PAGE, before },
      signal,
    });
    const isThere = page.before === null || page.data.some(({ seq }) => seq <= after);
    const fresh = page.data.filter(({ seq }) => seq > after);
    pages.unshift(fresh);
    count += fresh.length;
    if (isThere || count >= MOST) return { events: pages.flat(), isWhole: isThere };
    before = page.before ?? undefined;
  }
}
