import type { Delta, LoggedEvent } from "@tandem/protocol";

// The official clients of other languages know `message` as a name of an event and pass over names that they do not know; a
// frame without a name is dropped by TypeScript's. So all of Anthropic's vocabulary goes as `message`, and ours by its name.

const nameOf = (type: string): string => (type.startsWith("tandem.") ? type : "message");

/** Its id is its place in the log: what a client gives back as `Last-Event-ID` to go on from there. */
export const eventFrame = ({ seq, event }: LoggedEvent): string =>
  `event: ${nameOf(event.type)}\nid: ${seq}\ndata: ${JSON.stringify(event)}\n\n`;

/** A preview has no id: there is nothing to go back to. */
export const deltaFrame = (delta: Delta): string => namedFrame(nameOf(delta.type), delta);

export const namedFrame = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** Clients pass over comments; proxies and sockets see that something is alive. */
export const commentFrame = (text: string): string => `: ${text}\n\n`;
