import type { QueryInput, SessionCheckpoints, SessionDiff } from "@tandem/protocol";
import { useQuery } from "@tanstack/react-query";
import { api } from "../api/client.ts";
import { feed } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";

export type FileChange = SessionDiff["files"][number];
export type Turn = SessionCheckpoints["turns"][number];

/**
 * Files change while a session works. The time of its last update is part of the query keys, so that they are fetched
 * again.
 */
function useUpdatedAt(session: string): string {
  const found = useLive(feed.sessions).get(session);
  return found ? `${found.status} ${found.updated_at}` : "";
}

export function useCheckpoints(session: string) {
  const updatedAt = useUpdatedAt(session);
  return useQuery({
    queryKey: [`/v1/sessions/${session}/checkpoints`, updatedAt],
    queryFn: ({ signal }) => api.call("sessions.checkpoints", { params: { session_id: session }, signal }),
    placeholderData: (before) => before,
  });
}

export function useDiff(session: string, query: QueryInput<"sessions.diff">, isEnabled = true) {
  const updatedAt = useUpdatedAt(session);
  // A diff between two checkpoints never changes, so it can be cached.
  const isFixed = query.from !== undefined && query.to !== undefined && query.to !== "now";
  return useQuery({
    queryKey: [`/v1/sessions/${session}/diff`, query, isFixed ? "fixed" : updatedAt],
    queryFn: ({ signal }) => api.call("sessions.diff", { params: { session_id: session }, query, signal }),
    placeholderData: (before) => before,
    enabled: isEnabled,
    ...(isFixed && { staleTime: Number.POSITIVE_INFINITY }),
  });
}

/** Null if the session has no worktree. */
export function useWorktree(session: string) {
  const updatedAt = useUpdatedAt(session);
  return useQuery({
    queryKey: [`/v1/sessions/${session}/worktree`, updatedAt],
    queryFn: async ({ signal }) => {
      const { data } = await api.call("worktrees.list", { signal });
      if (data.every(({ session_id }) => session_id !== session)) return null;
      return await api.call("sessions.worktree.retrieve", { params: { session_id: session }, signal });
    },
    placeholderData: (before) => before,
  });
}
