import type { ProcessSlots } from "./process-slots.ts";

/** A limit that several pools share. */
export interface PoolLimit {
  slots: ProcessSlots;
  /** See `SlotRequest`. */
  owner: string;
}
