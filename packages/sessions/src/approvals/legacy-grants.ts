import type { EventId, EventOf, LoggedEvent, SessionEventBody } from "@tandem/protocol";
import type { OpenCall } from "../log/open-turn.ts";
import { allowsRun, type Answer } from "./pending-calls.ts";

type Use = EventOf<"agent.tool_use" | "agent.mcp_tool_use">;

/** A call that version 0.1 closed as not run and allowed the model to repeat once. */
export interface LegacyGrant {
  use: Use;
  answer: EventOf<"user.tool_confirmation">;
}

const AGAIN = "_again";

/** The model's id of the call that replaces a closed one: a closed call cannot get a second result. */
const repeatedId = ({ tandem }: Use): string => `${tandem.tool_use_id}${AGAIN}`;

/** The model's id of the closed call that this one replaces. */
export function replacedId({ tandem: { tool_use_id: id, verdict } }: OpenCall["use"]): string | undefined {
  return verdict?.by === "grant" && id.endsWith(AGAIN) ? id.slice(0, -AGAIN.length) : undefined;
}

/** The event of the call that replaces a closed one. */
export function replacement({ use, answer }: LegacyGrant): SessionEventBody {
  const why = `Allowed after its process had ended, as ${use.id}.`;
  return {
    ...use,
    input: answer.tandem?.input ?? use.input,
    evaluated_permission: "allow",
    tandem: { ...use.tandem, tool_use_id: repeatedId(use), verdict: { action: "allow", by: "grant", why } },
  };
}

/** Calls of a turn that were allowed late and have not run. Version 0.2 logs their state and needs no grant. */
export function openGrants(events: readonly LoggedEvent[]): LegacyGrant[] {
  const uses = new Map<EventId, Use>();
  const answers = new Map<string, Answer>();
  const known = new Set(
    events.flatMap(({ event }) => (event.type === "tandem.tool_state" ? [event.event_id as string] : [])),
  );
  const open = new Map<string, LegacyGrant>();
  for (const { thread, event } of events) {
    switch (event.type) {
      case "agent.tool_use":
      case "agent.mcp_tool_use":
        if (thread === null) uses.set(event.id, event);
        if (event.tandem.verdict?.by === "grant") open.delete(keyOf(event, event.input));
        break;
      case "user.tool_confirmation":
        answers.set(event.tool_use_id, event);
        break;
      case "tandem.approval_resolved": {
        const use = uses.get(event.event_id);
        const answer = answers.get(event.event_id);
        if (!event.late || known.has(event.event_id) || !use || answer?.type !== "user.tool_confirmation") break;
        if (allowsRun({ call: { thread: null, use }, answer })) {
          open.set(keyOf(use, answer.tandem?.input ?? use.input), { use, answer });
        }
        break;
      }
      default:
    }
  }
  return [...open.values()];
}

const keyOf = (use: Use, input: unknown): string =>
  JSON.stringify([use.type === "agent.mcp_tool_use" ? use.mcp_server_name : null, use.name, input]);

/** Replacements without a result, with the answers that allowed them. */
export function grantedCalls(open: Iterable<OpenCall>, events: readonly LoggedEvent[]) {
  const uses = new Map(
    events.flatMap(({ event }) =>
      event.type === "agent.tool_use" || event.type === "agent.mcp_tool_use"
        ? [[event.tandem.tool_use_id, event.id as string] as const]
        : [],
    ),
  );
  return [...open].flatMap((call) => {
    const replaced = uses.get(replacedId(call.use) ?? "");
    const answer = events.find(
      ({ event }) => event.type === "user.tool_confirmation" && event.tool_use_id === replaced,
    )?.event;
    return answer?.type === "user.tool_confirmation" ? [{ call, answer }] : [];
  });
}
