import { isOwnType, type Delta } from "@tandem/protocol";
import type { EncodedEvent } from "@tandem/storage";

// Official clients in other languages know the event name `message` and ignore unknown names; the TypeScript client
// drops frames without a name. So Anthropic's event types are sent as `message`, and Tandem's by their type.

const nameOf = (type: string): string => (isOwnType(type) ? type : "message");

/** The id is the event's position in the log; a client sends it back as `Last-Event-ID` to resume. */
export const eventFrame = ({ seq, type, json }: EncodedEvent): string =>
  `event: ${nameOf(type)}\nid: ${seq}\ndata: ${json}\n\n`;

/** A preview has no id, because a stream cannot resume from it. */
export const deltaFrame = (delta: Delta): string => namedFrame(nameOf(delta.type), delta);

export const namedFrame = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** Clients ignore comments; proxies and sockets see activity. */
export const commentFrame = (text: string): string => `: ${text}\n\n`;
