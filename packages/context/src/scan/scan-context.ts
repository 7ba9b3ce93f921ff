import type { ContextFolder } from "../folder/context-folder.ts";
import type { Metrics } from "../metrics/metrics-service.ts";
import type { Proposals } from "../proposals/proposals.ts";

/** Parts of a context that a scan needs. */
export interface ScanContext {
  folder: ContextFolder;
  proposals: Proposals;
  /** Notified when the catalogue has changed. */
  search?: { sync(): Promise<unknown> };
  /** To find metrics that the changed catalogue breaks. */
  metrics?: Pick<Metrics, "list">;
}
