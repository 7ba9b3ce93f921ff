import { StoredValue } from "../../live/stored-value.ts";

export interface PastQuery {
  at: string;
  connection: string;
  sql: string;
  /** Null if it failed. */
  rows: number | null;
  ms: number;
}

const MOST = 100;

/** The queries of this browser, the newest first. Results are not kept. */
export const sqlHistory = new StoredValue<readonly PastQuery[]>("tandem.sql.history", []);

/** The same query again moves to the top. */
export function remember(query: PastQuery): void {
  sqlHistory.change((all) =>
    [query, ...all.filter(({ sql, connection }) => sql !== query.sql || connection !== query.connection)].slice(
      0,
      MOST,
    ),
  );
}

/** The query being written, by connection. */
export const sqlDraft = new StoredValue<{ connection: string; sql: string }>("tandem.sql.draft", {
  connection: "",
  sql: "",
});
