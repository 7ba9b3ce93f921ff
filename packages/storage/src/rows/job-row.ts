import type { JobEvent, JobRow, JobStore } from "../job-store.ts";
import type { LoggedRow } from "../operations/event-rows.ts";
import type { JobEventRow, StoredJob } from "../operations/jobs.ts";
import type { Value } from "../sql-statement.ts";
import { toIso, toIsoOrNull, toMs, toMsOrNull } from "./time.ts";

const toJson = (value: unknown): string | null => JSON.stringify(value) ?? null;
const fromJson = (text: string | null): unknown => (text === null ? undefined : JSON.parse(text));

export const encodeJob = (row: JobRow): StoredJob => ({
  id: row.id,
  space: row.space,
  kind: row.kind,
  state: row.state === "interrupted" ? "running" : row.state,
  cancel_requested: row.cancelRequested ? 1 : 0,
  created_at: toMs(row.createdAt),
  started_at: toMsOrNull(row.startedAt),
  ended_at: toMsOrNull(row.endedAt),
  params: toJson(row.params),
  progress: toJson(row.progress),
  result: toJson(row.result),
  error: toJson(row.error),
});

export const decodeJob = (row: StoredJob): JobRow => ({
  id: row.id as JobRow["id"],
  space: row.space,
  kind: row.kind,
  params: fromJson(row.params),
  state: (row.shown ?? row.state) as JobRow["state"],
  progress: fromJson(row.progress),
  result: fromJson(row.result),
  error: (fromJson(row.error) ?? null) as JobRow["error"],
  cancelRequested: row.cancel_requested === 1,
  createdAt: toIso(row.created_at),
  startedAt: toIsoOrNull(row.started_at),
  endedAt: toIsoOrNull(row.ended_at),
});

/** Absent fields stay. */
export function encodeJobChange(change: NonNullable<Parameters<JobStore["write"]>[2]>): Record<string, Value> {
  const { state, progress, result, error, startedAt, endedAt } = change;
  return {
    ...(state !== undefined && { state }),
    ...(progress !== undefined && { progress: toJson(progress) }),
    ...(result !== undefined && { result: toJson(result) }),
    ...(error !== undefined && { error: toJson(error) }),
    ...(startedAt !== undefined && { started_at: toMsOrNull(startedAt) }),
    ...(endedAt !== undefined && { ended_at: toMsOrNull(endedAt) }),
  };
}

export function encodeJobEvent({ type, ...body }: JobEvent["event"], at: number): JobEventRow {
  return { type, at, body: JSON.stringify(body) };
}

export const toJobEvent = ({ seq, at, type, body }: Pick<LoggedRow, "seq" | "at" | "type" | "body">): JobEvent => ({
  seq,
  at: toIso(at!),
  event: { type, ...(JSON.parse(body) as object) },
});
