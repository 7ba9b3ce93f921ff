/** The one whose tables are those of the shared schema; always there. */
export const DEFAULT_TENANT = "default";

/** Whom a token belongs to. Each has tables of its own, which no statement of another names. */
export interface TenantRow {
  /** `[a-z0-9-]`, at most 40. */
  id: string;
  name: string;
  createdAt: string;
  archivedAt: string | null;
  limits: TenantLimits;
  /** Whatever else the house keeps of it: it parses it again. */
  settings: Record<string, unknown>;
}

/** Absent: none. */
export interface TenantLimits {
  /** Turns at the same time. */
  maxRunning?: number;
  /** Sessions that are not archived. */
  maxSessions?: number;
  dailyUsd?: number;
  fileBytes?: number;
}

export interface TenantStore {
  /** With its empty tables. `RequestError("conflict")` if there is one of this id, `invalid_request` if it is no id. */
  create(row: TenantRow): Promise<void>;
  get(id: string): Promise<TenantRow | undefined>;
  /** By id; the default one, too. */
  list(): Promise<TenantRow[]>;
  /** Absent fields stay. The default one cannot be archived. */
  update(
    id: string,
    change: Partial<Pick<TenantRow, "name" | "archivedAt" | "limits" | "settings">>,
  ): Promise<TenantRow>;
  /**
   * Everything of it: tables or file, and tokens. Gone for good. Rejects with `RequestError("conflict")` unless it is
   * archived.
   */
  delete(id: string): Promise<void>;
}
