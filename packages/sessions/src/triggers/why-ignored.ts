import type { TriggerFilter } from "@tandem/protocol";
import { payloadValues } from "./payload-values.ts";

/** Undefined if the delivery passes; otherwise the reason why it is ignored, in words for the delivery log. */
export function whyIgnored(event: string | null, payload: unknown, filter: TriggerFilter | null): string | undefined {
  if (filter?.events && !filter.events.some((wanted) => names(event, payload).includes(wanted))) {
    return `The event ${names(event, payload).at(-1) ?? "has no name and"} is not among the trigger's events.`;
  }
  const unmet = filter?.where?.find(
    ({ path, in: wanted }) => !payloadValues(payload, path).some((value) => wanted.includes(asText(value))),
  );
  return unmet && `${unmet.path} is none of: ${unmet.in.join(", ")}.`;
}

/**
 * The names of an event, from the general to the particular: `issues`, then `issues.opened`. Senders other than GitHub
 * name it in the payload's `type` or `event`.
 */
function names(event: string | null, payload: unknown): string[] {
  const inPayload = [...payloadValues(payload, "type"), ...payloadValues(payload, "event")].find(
    (value) => typeof value === "string",
  );
  const name = event ?? inPayload;
  if (name === undefined) return [];
  const [action] = payloadValues(payload, "action");
  return typeof action === "string" ? [name, `${name}.${action}`] : [name];
}

/** Numbers and truth values compare as JSON writes them. */
const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
