import type { Config } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import type { Knowledge } from "../knowledge.ts";

/** What the memory agent works with. */
export interface MemoryParts {
  context: Pick<Knowledge, "id" | "folder" | "proposals" | "search" | "user">;
  store: Pick<Store, "events" | "sessions" | "records">;
  settings: Config["memory"];
  now?: () => Date;
}

const DAY_MS = 86_400_000;

/** So many days from now; 0: never. */
export const expiryAfter = (days: number, now: Date): string | null =>
  days === 0 ? null : new Date(now.getTime() + days * DAY_MS).toISOString();
