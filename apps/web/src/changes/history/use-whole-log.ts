import { useQuery, useQueryClient } from "@tanstack/react-query";
import { readLog, type WholeLog } from "../../api/read-log.ts";
import { feed } from "../../live/session-feed.ts";
import { useLive } from "../../live/live-value.ts";

/** A longer log is cut at its beginning, and the page says so. */
const MOST = 40_000;

/** Reads all events of a session. Later reads fetch only new events. */
export function useWholeLog(session: string) {
  const queries = useQueryClient();
  const updatedAt = useLive(feed.sessions).get(session)?.updated_at ?? "";
  const key = [`/v1/sessions/${session}/log`, "whole"];
  return useQuery({
    queryKey: [...key, updatedAt],
    queryFn: async ({ signal }) => {
      const known = queries.getQueryData<WholeLog>(key);
      const log = await readLog(session, { after: known?.events.at(-1)?.seq, most: MOST, signal });
      const whole = known ? { events: [...known.events, ...log.events], isWhole: known.isWhole } : log;
      queries.setQueryData(key, whole);
      return whole;
    },
    placeholderData: (before) => before,
  });
}
