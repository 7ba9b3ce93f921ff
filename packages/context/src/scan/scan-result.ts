import type { ContextFolder } from "../folder/context-folder.ts";
import type { Metrics } from "../metrics/metrics-service.ts";
import type { Proposals } from "../proposals/proposals.ts";
import type { PrivacyReport } from "../privacy/restrict-tables.ts";
import type { Described } from "./describe-tables.ts";

/** Parts of a context that a scan needs. */
export interface ScanContext {
  folder: ContextFolder;
  proposals: Proposals;
  /** Notified when the catalogue has changed. */
  search?: { sync(): Promise<unknown> };
  /** To find metrics that the changed catalogue breaks. */
  metrics?: Pick<Metrics, "list">;
}

export interface ScanResult {
  connection: string;
  /** `changed`: columns or keys differ from the catalogue. */
  tables: { seen: number; added: number; changed: number; gone: number };
  /** Null if joins could not be checked. */
  joins: { accepted: number; review: number } | null;
  /** Null if no model was used. */
  descriptions: Described["counts"] | null;
  /** Columns whose values are not stored. Absent in results of 0.1.0. */
  privacy?: PrivacyReport;
  /** Metrics that were usable before the scan. Absent in results of 0.1.0. */
  brokenMetrics?: { name: string; path: string; message: string; fix?: string }[];
  proposals: { id: string; title: string; accepted: number; open: number }[];
}
