import type { LiveDelta } from "@tandem/protocol";
import type { EncodedEvent } from "@tandem/storage";
import { deltaFrame, eventFrame } from "./frame.ts";

/** An event or a preview to be sent to clients. */
export type StreamItem =
  | { type: "event"; event: EncodedEvent; frame?: string }
  | { type: "delta"; live: LiveDelta; frame?: string };

/** Encoded once, when the first client needs it. */
export const frameOf = (item: StreamItem): string =>
  (item.frame ??= item.type === "event" ? eventFrame(item.event) : deltaFrame(item.live.delta));

/** The id of the event that a preview belongs to; undefined for events and for previews of events that have arrived. */
export function previewedId(item: StreamItem): string | undefined {
  if (item.type === "event") return undefined;
  const { delta } = item.live;
  if (delta.type === "tandem.tool_progress") return undefined;
  return delta.type === "event_start" ? delta.event.id : delta.event_id;
}
