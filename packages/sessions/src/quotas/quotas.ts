/** What all sessions of a store may take together; absent is without limit. */
export interface Quotas {
  /** Turns at the same time, in all processes. */
  maxRunning?: number;
  /** Sessions that are not archived. */
  maxSessions?: number;
  /** Money of a day, at list price. */
  dailyUsd?: number;
  /** Bytes of uploaded files. */
  fileBytes?: number;
}
