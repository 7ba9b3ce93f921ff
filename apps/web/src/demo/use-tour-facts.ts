import type { SessionEvent } from "@tandem/protocol";
import { useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { useEffect } from "react";
import { api } from "../api/client.ts";
import { feed } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import { tour } from "./tour-state.ts";
import type { TourFacts } from "./tour-steps.ts";

const EDITS = new Set(["Edit", "MultiEdit", "Write"]);
const LOG_LIMIT = 500;
const POLL_MS = 1_500;

/** Reads the steps' events from the server and the visited pages. */
export function useTourFacts(): TourFacts {
  const { since, diffOf, asked, hasSearched = false } = useLive(tour);
  const approved = useApprovedEdit(since);
  const hasRewound = useHasEvent(approved, "tandem.rewound", since);
  const isAnswered = useHasEvent(asked, "session.status_idle", since);
  useVisits(approved);
  return {
    approved,
    hasSeenDiff: approved !== undefined && diffOf === approved,
    hasRewound,
    hasAskedContext: hasSearched || isAnswered,
  };
}

/** The session of the edit that the user approved last. */
function useApprovedEdit(since: string): string | undefined {
  const sessions = useLive(feed.sessions);
  const waiting = [...sessions.values()].flatMap(({ waiting_for }) => waiting_for.map(({ event_id }) => event_id));
  const { data } = useQuery({
    queryKey: ["/v1/approvals", "tour", waiting.join(" ")],
    queryFn: ({ signal }) => api.call("approvals.list", { query: { status: "resolved", limit: 50 }, signal }),
    placeholderData: (before) => before,
  });
  return data?.data.find(
    ({ tool, resolved }) => EDITS.has(tool) && resolved?.outcome === "allowed" && resolved.at > since,
  )?.session_id;
}

/** Whether the session's log has such an event. Polls until it has. */
function useHasEvent(session: string | undefined, type: SessionEvent["type"], since: string): boolean {
  const { data } = useQuery({
    queryKey: [`/v1/sessions/${session}/log`, type, since],
    queryFn: async ({ signal }) => {
      const params = { session_id: session ?? "" };
      const { data: log } = await api.call("sessions.log.list", { params, query: { limit: LOG_LIMIT }, signal });
      return log.some(({ event }) => event.type === type && (event.processed_at ?? "") > since);
    },
    enabled: session !== undefined,
    refetchInterval: ({ state }) => (state.data === true ? false : POLL_MS),
  });
  return data ?? false;
}

/** Remembers the pages that complete a step. */
function useVisits(approved: string | undefined): void {
  const { pathname, search } = useLocation();
  const isDiff = approved !== undefined && pathname === `/sessions/${approved}` && search.view === "changes";
  const isSearch = pathname.startsWith("/context") && (search.q ?? "") !== "";
  useEffect(() => {
    if (isDiff && tour.current.diffOf !== approved) tour.set({ ...tour.current, diffOf: approved });
  }, [isDiff, approved]);
  useEffect(() => {
    if (isSearch && !tour.current.hasSearched) tour.set({ ...tour.current, hasSearched: true });
  }, [isSearch]);
}
