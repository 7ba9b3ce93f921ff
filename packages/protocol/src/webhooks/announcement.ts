import { z } from "zod";
import type { WebhookEventType } from "./webhook-event.ts";

/** A change of a resource, to be sent to the webhook endpoints that want its type. */
export const announcement = z.object({
  // A newer process of the fleet may announce types that this one does not know; they are delivered all the same.
  type: z.custom<WebhookEventType>((type) => typeof type === "string"),
  /** The id of the resource that changed. */
  id: z.string(),
  /** The thread, for `session.thread_*`. */
  session_thread_id: z.string().exactOptional(),
  /** The vault, for `vault_credential.*`. */
  vault_id: z.string().exactOptional(),
  /** The request, for `tandem.approval_requested`. */
  approval_id: z.string().exactOptional(),
  /** The event of the session's log that caused it. Not sent. */
  event_id: z.string().exactOptional(),
});
export type Announcement = z.infer<typeof announcement>;

/** The body of a delivery. It names the resource; a receiver fetches the rest. */
export interface WebhookEvent {
  type: "event";
  /** Starts with `whe_`. The same in every delivery of the event: a receiver can use it to drop duplicates. */
  id: string;
  created_at: string;
  data: Omit<Announcement, "event_id"> & { organization_id: string; workspace_id: string };
}
