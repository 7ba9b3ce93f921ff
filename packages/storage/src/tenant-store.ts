/** Its tables are in the shared schema; it always exists. */
export const DEFAULT_TENANT = "default";

/** Owner of tokens. Each tenant has its own tables; no statement reads another tenant's. */
export interface TenantRow {
  /** Matches `[a-z0-9-]{1,40}`. */
  id: string;
  name: string;
  createdAt: string;
  archivedAt: string | null;
  limits: Quotas;
  /** Free-form; the server package parses it. */
  settings: Record<string, unknown>;
}

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

export interface TenantStore {
  /**
   * Also creates its empty tables. `RequestError("conflict")` if the id exists, `invalid_request` if it is malformed.
   */
  create(row: TenantRow): Promise<void>;
  get(id: string): Promise<TenantRow | undefined>;
  /** Sorted by id, including the default tenant. */
  list(): Promise<TenantRow[]>;
  /** Absent fields stay. The default tenant cannot be archived. */
  update(
    id: string,
    change: Partial<Pick<TenantRow, "name" | "archivedAt" | "limits" | "settings">>,
  ): Promise<TenantRow>;
  /**
   * Permanently deletes its tables or file and its tokens. Rejects with `RequestError("conflict")` unless it is
   * archived.
   */
  delete(id: string): Promise<void>;
}
