import type { EventId, EventOf, LoggedEvent } from "@tandem/protocol";
import type { OpenCall } from "../log/open-turn.ts";
import type { Answer } from "./pending-calls.ts";

type Confirmation = EventOf<"user.tool_confirmation">;

interface GrantedCall {
  name: string;
  mcpServer?: string;
  input: Record<string, unknown>;
}

/**
 * Calls approved after their process had ended: exactly this tool with exactly this input, once. They are also in the log, so
 * they survive this process.
 */
export class Grants {
  #keys: string[] = [];

  add(call: GrantedCall): void {
    this.#keys.push(keyOf(call));
  }

  /** Consumes a grant for this call, if there is one. */
  use(call: GrantedCall): boolean {
    const index = this.#keys.indexOf(keyOf(call));
    if (index !== -1) this.#keys.splice(index, 1);
    return index !== -1;
  }

  clear(): void {
    this.#keys = [];
  }
}

const keyOf = ({ mcpServer, name, input }: GrantedCall): string => JSON.stringify([mcpServer ?? null, name, input]);

/** The call that an answer allows to be repeated: the original or the edited one. A plan is not repeated. */
export function grantOf({ use }: Pick<OpenCall, "use">, answer: Answer): GrantedCall | undefined {
  if (answer.type !== "user.tool_confirmation" || answer.result !== "allow") return undefined;
  if (use.type === "agent.custom_tool_use" || use.tandem.approval?.kind === "plan") return undefined;
  return {
    name: use.name,
    ...(use.type === "agent.mcp_tool_use" && { mcpServer: use.mcp_server_name }),
    input: answer.tandem?.input ?? use.input,
  };
}

/** Unused grants of a turn, from its events. */
export function openGrants(events: readonly LoggedEvent[]): GrantedCall[] {
  const uses = new Map<EventId, EventOf<"agent.tool_use" | "agent.mcp_tool_use">>();
  const answers = new Map<string, Confirmation>();
  const open: GrantedCall[] = [];
  for (const { event } of events) {
    switch (event.type) {
      case "agent.tool_use":
      case "agent.mcp_tool_use": {
        uses.set(event.id, event);
        if (event.tandem.verdict?.by !== "grant") break;
        const key = keyOf({
          ...event,
          ...(event.type === "agent.mcp_tool_use" && { mcpServer: event.mcp_server_name }),
        });
        const index = open.findIndex((call) => keyOf(call) === key);
        if (index !== -1) open.splice(index, 1);
        break;
      }
      case "user.tool_confirmation":
        answers.set(event.tool_use_id, event);
        break;
      case "tandem.approval_resolved": {
        const use = uses.get(event.event_id);
        const answer = answers.get(event.event_id);
        const grant = event.late && use && answer && grantOf({ use }, answer);
        if (grant) open.push(grant);
        break;
      }
      default:
    }
  }
  return open;
}
