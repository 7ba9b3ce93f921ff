import type { ApprovalAnswer } from "@tandem/protocol";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { api, ApiError } from "../api/client.ts";
import { feed } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";

export const APPROVALS = "/v1/approvals";

export type Answer = Partial<ApprovalAnswer> & Pick<ApprovalAnswer, "result">;

/** One approval, refetched when the feed reports a change. */
export function useApproval(id: string, session: string) {
  const queries = useQueryClient();
  const isWaiting = useLive(feed.sessions)
    .get(session)
    ?.waiting_for.some(({ event_id }) => event_id === id);
  const before = useRef(isWaiting);
  useEffect(() => {
    if (before.current === isWaiting) return;
    before.current = isWaiting;
    void queries.invalidateQueries({ queryKey: [APPROVALS, id] });
  }, [isWaiting, id, queries]);
  return useQuery({
    queryKey: [APPROVALS, id],
    queryFn: ({ signal }) => api.call("approvals.retrieve", { params: { approval_id: id }, signal }),
    // In a fleet, a new approval may reach this server a moment after the log event, so a 404 is retried.
    retry: (times, error) => times < (error instanceof ApiError && error.status === 404 ? 3 : 1),
  });
}

/** Sends an answer. On a conflict another user was faster: the approval is refetched and shows who. */
export function useAnswer(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (answer: Answer) => api.call("approvals.answer", { params: { approval_id: id }, body: answer }),
    onSuccess: (approval) => {
      queries.setQueryData([APPROVALS, id], approval);
      void queries.invalidateQueries({ queryKey: [APPROVALS, { status: "resolved" }] });
    },
    onError: (error) => {
      if (error instanceof ApiError && error.status === 409)
        void queries.invalidateQueries({ queryKey: [APPROVALS, id] });
    },
  });
}
