import type { JobId } from "@tandem/protocol";
import type { Page, PageQuery } from "./store.ts";

export const JOB_STATES = ["queued", "running", "interrupted", "done", "partly", "failed", "cancelled"] as const;
/**
 * `interrupted`: it was begun, and nobody holds it any more; it can be taken up. Nobody writes that: it is what is read of a
 * running job whose lease was released or has run out. `partly`: it went to its end, and something was skipped or failed.
 */
export type JobState = (typeof JOB_STATES)[number];

export interface JobRow {
  id: JobId;
  /** Whose it is: a context. */
  space: string;
  kind: string;
  /** What it was started with. */
  params: unknown;
  state: JobState;
  /** The last that it said of its progress, so that lists need not read logs. */
  progress: unknown;
  /** Set once it has ended. */
  result: unknown;
  error: { code: string; message: string; fix?: string } | null;
  /** Somebody wants it to stop. */
  cancelRequested: boolean;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
}

/** The right to work on a job. Fenced like a session's lease. */
export interface JobLease {
  job: JobId;
  token: number;
}

/** What happened in a job: its own vocabulary, one JSON object each, numbered from 1 without gaps. */
export interface JobEvent {
  seq: number;
  at: string;
  event: { type: string } & Record<string, unknown>;
}

/** Durable background work. Whoever dies while working on a job leaves it to the next: what it wrote stands. */
export interface JobStore {
  create(job: JobRow): Promise<void>;
  get(id: string): Promise<JobRow | undefined>;
  list(query: PageQuery & { space?: string; kind?: string; states?: readonly JobState[] }): Promise<Page<JobRow>>;
  /**
   * Takes a job that nobody holds and that has not ended. Undefined if it is held, or has ended. One that does not exist is
   * `RequestError("not_found")`.
   */
  take(id: JobId, holder: string, ttlMs: number): Promise<JobLease | undefined>;
  /** Prolongs; returns those that were lost. */
  renew(leases: readonly JobLease[], ttlMs: number): Promise<JobLease[]>;
  release(lease: JobLease): Promise<void>;
  holder(id: JobId): Promise<{ holder: string; expiresAt: string } | undefined>;
  /** Jobs that are queued, or running though nobody holds them any more: all that can be taken. Oldest first. */
  waiting(space?: string): Promise<JobRow[]>;
  /**
   * Appends events and changes the row, in one transaction. Rejects with `LeaseLost` if the lease was taken over, and with
   * `RequestError("conflict")` if the job has ended: nothing is written then.
   */
  write(
    lease: JobLease,
    events: readonly JobEvent["event"][],
    change?: Partial<Pick<JobRow, "progress" | "result" | "error" | "startedAt" | "endedAt">> & {
      state?: Exclude<JobState, "interrupted">;
    },
  ): Promise<JobEvent[]>;
  events(id: JobId, range: { after: number; limit: number }): Promise<JobEvent[]>;
  /**
   * Events after `after`, first those that are there, then those to come, without gap or repeat, until the job has ended and
   * all was handed over, or it is deleted, or the signal fires. Waits for the database like the log of a session.
   */
  follow(id: JobId, after: number, signal: AbortSignal): AsyncIterable<JobEvent[]>;
  /** Whoever works on it sees `cancelRequested` by `get`. False if there is no such job, or it has ended. */
  requestCancel(id: JobId): Promise<boolean>;
  /** With its log. Rejects with `RequestError("conflict")` while somebody holds it. */
  delete(id: JobId): Promise<boolean>;
}
