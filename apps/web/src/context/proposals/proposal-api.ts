import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import type { Evidence } from "../context-api.ts";

export interface Decision {
  id: string;
  kind: "contradiction" | "eviction" | "conflict";
  about: string;
  question: string;
  sides: { claim: string; evidence: Evidence[] }[];
  answer: string | null;
  answered_by?: string;
}

export interface ProposalSummary {
  id: string;
  job: string | null;
  title: string;
  summary: string;
  state: "open" | "accepted" | "partly" | "rejected";
  quarantine: string | null;
  files: number;
  counts: Record<HunkState, number>;
  decisions: Decision[];
  commits: string[];
  created_at: string;
  updated_at: string;
}

export type HunkState = "open" | "accepted" | "rejected" | "conflict";

export interface Hunk {
  id: string;
  old_start: number;
  old_lines: string[];
  new_start: number;
  new_lines: string[];
  aspect: string;
  certain?: boolean;
  held?: string;
  /** For each new line: indexes into the change's evidence. */
  support: number[][];
  removal: number[];
  state: HunkState;
  note?: string;
  decided_by?: string;
  decided_at?: string;
}

export interface Change {
  path: string;
  before: string | null;
  after: string | null;
  evidence: Evidence[];
  hunks: Hunk[];
}

export interface Proposal extends ProposalSummary {
  changes: Change[];
  next_page: string | null;
}

const FILES = 50;

/** A proposal, some files at a time. */
export const useProposal = (id: string) =>
  useInfiniteQuery({
    queryKey: ["/v1/proposals", id],
    queryFn: ({ pageParam, signal }) =>
      api.get<Proposal>(`/v1/proposals/${id}`, { limit: FILES, page: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_page }) => next_page ?? undefined,
  });

export type Verdict =
  | { action: "accept"; hunks?: readonly string[] }
  | { action: "reject"; hunks?: readonly string[]; reason?: string }
  | { action: "edit"; path: string; after: string }
  | { action: "answer"; decision: string; answer: string }
  | { action: "undo" };

/** Decides, and has everything told anew that may have changed with it. */
export function useVerdict(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ action, ...body }: Verdict) =>
      api.post<Proposal>(`/v1/proposals/${id}/${action}`, action === "undo" ? undefined : body),
    onSettled: () =>
      queries.invalidateQueries({
        predicate: ({ queryKey: [path] }) => /^\/v1\/(proposals|context)/.test(String(path)),
      }),
  });
}
