import { z } from "zod";
import { agentEvents } from "./agent-event.ts";
import { described, openObject, threadId } from "./event-schema.ts";
import { loggedClientEvents } from "./logged-client-event.ts";
import { outcomeEvents } from "./outcome-event.ts";
import { requestEvents } from "./request-event.ts";
import { statusEvents } from "./status-event.ts";
import { tandemCallEvents } from "./tandem/call-event.ts";
import { tandemFolderEvents } from "./tandem/folder-event.ts";
import { tandemMessageEvents } from "./tandem/message-event.ts";
import { tandemModelEvents } from "./tandem/model-event.ts";
import { tandemProcessEvents } from "./tandem/process-event.ts";
import { toolEvents } from "./tool-event.ts";
import { workflowEvents } from "./workflow-event.ts";

// The vocabulary of a session's log: Anthropic's Managed Agents events, and ours with the prefix `tandem.`. Our additions to
// their events are under the key `tandem`, which their clients ignore.

/** Every event by its type. */
export const sessionEvents = {
  ...loggedClientEvents,
  ...agentEvents,
  ...toolEvents,
  ...statusEvents,
  ...workflowEvents,
  ...requestEvents,
  ...outcomeEvents,
  ...tandemProcessEvents,
  ...tandemModelEvents,
  ...tandemCallEvents,
  ...tandemFolderEvents,
  ...tandemMessageEvents,
};

type Schemas = typeof sessionEvents;
export type SessionEventType = keyof Schemas;

/** Everything but `id` and `processed_at`, which every event has. */
export type SessionEventBody = {
  [T in SessionEventType]: Omit<z.output<Schemas[T]>, "id" | "processed_at">;
}[SessionEventType];

/** A durable fact. `processed_at` is null only on client events that wait in the input queue. */
export type SessionEvent = { [T in SessionEventType]: z.output<Schemas[T]> }[SessionEventType];
export type EventOf<T extends SessionEventType> = Extract<SessionEvent, { type: T }>;

export const sessionEvent = z
  .discriminatedUnion(
    "type",
    Object.values(sessionEvents) as [Schemas[SessionEventType], ...Schemas[SessionEventType][]],
  )
  .meta({
    id: "SessionEvent",
    description:
      "An event of a session's log. Types that begin with `tandem.` and the key `tandem` are Tandem's own. Later versions may add types and fields: clients ignore those that they do not know.",
  });

export const loggedEvent = openObject({
  seq: described("Starts at 1 in each session, without gaps.", z.int()),
  thread: described("Null on the session's primary thread.", threadId.nullable()),
  event: sessionEvent,
}).meta({ id: "LoggedEvent", description: "An event in its place in the log." });
export type LoggedEvent = z.infer<typeof loggedEvent>;
