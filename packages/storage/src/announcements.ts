import type { Announcement } from "@tandem/protocol";

// Records of the webhooks. Storage writes the deliveries; the engine sends them and keeps the other kinds.

export const WEBHOOKS = "webhooks";
/** `TYPE/ENDPOINT`: the endpoint gets announcements of this type. */
export const WANTED = "wanted";
/** `ENDPOINT/TIME/EVENT`: a delivery to be tried at that time, in milliseconds with 13 digits. */
export const DUE = "due";
/** The time of a delivery that was not tried yet: at once, by any clock. */
export const FIRST_DUE = "0000000000000";

/** Announcements of changes, for webhooks. A change and its announcements are one transaction. */
export interface Announcements {
  /** For changes outside the store. Others pass their announcements along with the write. */
  add(announcements: readonly Announcement[]): Promise<void>;
  /** Called after this process committed announcements. Returns an unsubscribe function. */
  onAdded(listener: () => void): () => void;
}
