/** Limits of all sessions of a store together; absent means unlimited. */
export interface Quotas {
  /** Concurrent turns in all processes. */
  maxRunning?: number;
  /** Unarchived sessions. */
  maxSessions?: number;
  /** Spending per day at list price. */
  dailyUsd?: number;
  /** Bytes of uploaded files. */
  fileBytes?: number;
}
