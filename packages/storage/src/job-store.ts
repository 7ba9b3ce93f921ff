import type { JOB_STATES, JobError, JobEvent as KnownJobEvent, JobId } from "@tandem/protocol";
import type { Page, PageQuery } from "./page.ts";

export { JOB_STATES } from "@tandem/protocol";

export type JobState = (typeof JOB_STATES)[number];

export interface JobRow {
  id: JobId;
  /** Id of the context that owns the job. */
  space: string;
  kind: string;
  /** Input of the job. */
  params: unknown;
  state: JobState;
  /** Latest progress, denormalised so that lists need not read logs. */
  progress: unknown;
  /** Set when the job ends. */
  result: unknown;
  error: JobError | null;
  /** Set by `requestCancel`; the running job polls it. */
  cancelRequested: boolean;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
}

/** The right to work on a job, fenced by a token like a session's lease. */
export interface JobLease {
  job: JobId;
  token: number;
}

export interface HeldJob {
  id: JobId;
  holder: string;
  expiresAt: string;
}

/** One JSON object per event, in the job's own vocabulary, numbered from 1 without gaps. */
export interface JobEvent extends Omit<KnownJobEvent, "event"> {
  event: { type: string } & Record<string, unknown>;
}

/** Durable background jobs. If a worker crashes, another resumes the job from its log and row. */
export interface JobStore {
  create(job: JobRow): Promise<void>;
  get(id: string): Promise<JobRow | undefined>;
  list(query: PageQuery & { space?: string; kind?: string; states?: readonly JobState[] }): Promise<Page<JobRow>>;
  /**
   * Takes the lease of an unfinished job. Undefined if another worker holds it or the job has ended; with `alone`, also
   * while a worker holds another job of its kind in its space. An unknown id is `RequestError("not_found")`.
   */
  take(id: JobId, holder: string, ttlMs: number, options?: { alone?: boolean }): Promise<JobLease | undefined>;
  /** Extends leases; returns the lost ones. */
  renew(leases: readonly JobLease[], ttlMs: number): Promise<JobLease[]>;
  release(lease: JobLease): Promise<void>;
  holder(id: JobId): Promise<{ holder: string; expiresAt: string } | undefined>;
  /** The unfinished job of a kind that a worker holds, if any. */
  held(space: string, kind: string): Promise<HeldJob | undefined>;
  /** Jobs that can be taken, oldest first: queued, or running with an expired lease. */
  waiting(space?: string): Promise<JobRow[]>;
  /**
   * Appends events and updates the row in one transaction. Writes nothing and rejects with `LeaseLost` if another
   * worker took the lease, or with `RequestError("conflict")` if the job has ended.
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
   * Yields stored events after `after`, then live ones, without gaps or repeats. Ends when the job has ended and its
   * log was delivered, when the job is deleted, or when the signal fires. Reconnects to the database like a session's
   * log.
   */
  follow(id: JobId, after: number, signal: AbortSignal): AsyncIterable<JobEvent[]>;
  /** The running job reads `cancelRequested` with `get`. False if the job does not exist or has ended. */
  requestCancel(id: JobId): Promise<boolean>;
  /** Deletes the job and its log. Rejects with `RequestError("conflict")` while a worker holds its lease. */
  delete(id: JobId): Promise<boolean>;
}
