import { api } from "../../api/client.ts";

export type JobState = "queued" | "running" | "interrupted" | "done" | "partly" | "failed" | "cancelled";

export interface Job {
  id: string;
  kind: string;
  params: Record<string, unknown> | null;
  state: JobState;
  progress: Progress | null;
  result: Record<string, unknown> | null;
  error: { code: string; message: string; fix?: string } | null;
  cancel_requested: boolean;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
}

interface Progress {
  stage: string | null;
  done: number;
  total: number | null;
  item: string | null;
  skipped: number;
  spent?: { requests: number; cached: number; usd: number | null };
}

/** What a job says; others may come, and are passed over. */
export type RunEvent =
  | { type: "started"; kind: string; resumed: boolean }
  | { type: "stage_started"; stage: string; total: number | null }
  | { type: "stage_progress"; stage: string; done: number; total: number | null; item: string | null }
  | { type: "stage_finished"; stage: string; counts: Record<string, number> }
  | { type: "skipped"; stage: string; item: string; code: string; message: string }
  | { type: "unit_started"; unit: string; items: string[] }
  | { type: "unit_step"; unit: string; step: number; budget: number; tools: string[] }
  | { type: "unit_finished"; unit: string; outcome: "done" | "budget" | "failed"; message: string | null }
  | { type: "waiting"; reason: string; until: string | null }
  | { type: "spent"; requests: number; cached: number; usd: number | null }
  | { type: "proposed"; proposal: string; accepted: number; open: number }
  | { type: "ended"; state: string; message: string | null };

export const startJob = (kind: string, params: Record<string, unknown>): Promise<Job> =>
  api.post("/v1/jobs", { kind, params });
export const cancelJob = (id: string): Promise<Job> => api.post(`/v1/jobs/${id}/cancel`);

/** What a job works on, in words. */
export function subjectOf({ kind, params }: Pick<Job, "kind" | "params">): string {
  const { connection, sources, session, text } = params ?? {};
  if (typeof connection === "string") return connection;
  if (Array.isArray(sources)) return sources.join(", ");
  if (typeof session === "string") return "a session";
  return typeof text === "string" ? text : kind;
}

export const isUnderWay = ({ state }: Pick<Job, "state">): boolean => state === "running" || state === "queued";
