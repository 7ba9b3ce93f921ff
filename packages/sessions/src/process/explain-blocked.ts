import { homedir } from "node:os";
import type { ConversationHost } from "@tandem/claude-code";
import type { SessionEventBody } from "@tandem/protocol";
import { explainFailure } from "@tandem/sandbox";
import type { ProcessSettings } from "./process-settings.ts";

type AfterFailure = NonNullable<ConversationHost["afterFailure"]>;

/**
 * Tells the model and the user if the sandbox is the likely cause of a failed call. The proxy logs refused hosts by itself, so
 * those get no second event.
 */
export function explainBlocked(
  { hostVariables, sandbox }: Pick<ProcessSettings, "hostVariables" | "sandbox">,
  write: (events: SessionEventBody[]) => void,
): AfterFailure {
  const home = hostVariables["HOME"] || homedir();
  const told = new Set<string>();
  return async ({ error, eventId, mcpServer }) => {
    // MCP servers run outside of the session's sandbox.
    const blocked =
      mcpServer === undefined
        ? explainFailure(error, { home, ...(sandbox?.limits && { limits: sandbox.limits }) })
        : undefined;
    if (!blocked) return {};
    const { kind, target, rule, fix } = blocked;
    const isNew = !told.has(`${kind} ${target}`);
    told.add(`${kind} ${target}`);
    if (isNew && !blocked.isReported) {
      write([{ type: "tandem.sandbox_violation", kind, target, rule, fix, event_id: eventId }]);
    }
    return { context: `Sandbox: ${rule} ${fix}` };
  };
}
