import type {
  BodyInput,
  Change,
  Decision,
  Hunk,
  HunkGroup,
  Proposal,
  ProposalSummary,
  QueryInput,
} from "@tandem/protocol";
import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

export type { Change, Decision, Hunk, ProposalSummary };
export type HunkState = Hunk["state"];

const FILES = 50;

/** A proposal, loaded in pages of files; with a group, only the files and hunks of that group. */
export const useProposal = (id: string, group: HunkGroup | undefined) =>
  useInfiniteQuery({
    queryKey: ["/v1/proposals", id, group?.filter],
    queryFn: ({ pageParam, signal }) =>
      api.call("proposals.retrieve", {
        params: { proposal_id: id },
        query: { limit: FILES, page: pageParam, ...(group && filterQuery(group)) },
        signal,
      }),
    placeholderData: keepPreviousData,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_page }) => next_page ?? undefined,
  });

function filterQuery({ filter: { certain, ...rest } }: HunkGroup): QueryInput<"proposals.preview"> {
  return { ...rest, ...(certain !== undefined && { certain: certain ? "true" : "false" }) };
}

export type ProposalDecision =
  | ({ action: "accept" } & BodyInput<"proposals.accept">)
  | ({ action: "reject" } & BodyInput<"proposals.reject">)
  | ({ action: "edit" } & BodyInput<"proposals.edit">)
  | ({ action: "answer" } & BodyInput<"proposals.answer">)
  | { action: "undo" };

function decide(id: string, { action, ...body }: ProposalDecision): Promise<Proposal> {
  const params = { proposal_id: id };
  if (action === "undo") return api.call("proposals.undo", { params });
  return api.call(`proposals.${action}`, { params, body });
}

/** Sends a verdict and refetches everything it may change. */
export function useVerdict(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (decision: ProposalDecision) => decide(id, decision),
    onSettled: () =>
      queries.invalidateQueries({
        predicate: ({ queryKey: [path] }) => /^\/v1\/(proposals|context)/.test(String(path)),
      }),
  });
}
