import type { Config } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import type { Knowledge } from "../knowledge.ts";

/** Dependencies of the memory agent. */
export interface MemoryParts {
  context: Pick<Knowledge, "id" | "folder" | "proposals" | "search" | "user">;
  store: Pick<Store, "events" | "sessions" | "records">;
  settings: Config["memory"];
  now?: () => Date;
}

const DAY_MS = 86_400_000;

/** Days from now; 0: never. */
export const expiryAfter = (days: number, now: Date): string | null =>
  days === 0 ? null : new Date(now.getTime() + days * DAY_MS).toISOString();
