import { z } from "zod";
import { typed } from "../api/typed.ts";
import type { EventId, SessionId, ThreadId, WorkflowRunId, WorkflowRunPhaseId } from "../ids.ts";

// The parts of which the events of a session's log are declared.

export const eventId = typed<EventId>()(z.string());
export const sessionId = typed<SessionId>()(z.string());
export const threadId = typed<ThreadId>()(z.string());
export const workflowRunId = typed<WorkflowRunId>()(z.string());
export const workflowRunPhaseId = typed<WorkflowRunPhaseId>()(z.string());

/** An object that may have more fields than its type: a log may hold events of a newer version. */
export const openObject = z.looseObject as unknown as typeof z.object;

/** A fact and its description in the API reference. */
export const described = <T extends z.ZodType>(description: string, schema: T): T => schema.meta({ description });

const logged = {
  id: eventId,
  processed_at: described("Null while an event that a client sent waits for its turn.", z.string().nullable()),
};

type EventSchema<Type extends string, Fields extends z.ZodRawShape> = z.ZodObject<
  { type: z.ZodLiteral<Type> } & Fields & typeof logged
>;

/** Declares an event under its type. Events without fields of their own need only a description. */
export function event<Type extends string, Fields extends z.ZodRawShape = {}>(
  type: Type,
  description: string,
  fields?: Fields,
): { [T in Type]: EventSchema<T, Fields> } {
  const schema = openObject({ type: z.literal(type), ...fields, ...logged });
  return { [type]: schema.meta({ id: schemaName(type), description }) } as { [T in Type]: EventSchema<T, Fields> };
}

/** `tandem.side_request`: `TandemSideRequestEvent`. */
const schemaName = (type: string): string =>
  `${type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;
