import type { ContextFolder } from "../folder/context-folder.ts";
import type { Proposals } from "../proposals/proposals.ts";
import type { Described } from "./describe-tables.ts";

/** What a scan needs of a context. */
export interface ScanContext {
  folder: ContextFolder;
  proposals: Proposals;
  /** Told when the catalogue has changed. */
  search?: { sync(): Promise<unknown> };
}

export interface ScanResult {
  connection: string;
  /** `changed`: with other columns or keys than in the catalogue. */
  tables: { seen: number; added: number; changed: number; gone: number };
  /** Null where they could not be looked for. */
  joins: { accepted: number; review: number } | null;
  /** Null where no model was asked. */
  descriptions: Described["counts"] | null;
  proposals: { id: string; title: string; accepted: number; open: number }[];
}
