import { homedir } from "node:os";
import type { ConversationHost } from "@tandem/claude-code";
import type { SessionEventBody } from "@tandem/protocol";
import { explainFailure } from "@tandem/sandbox";
import { findRepository } from "@tandem/workspace";
import type { ProcessSettings } from "./process-settings.ts";

type AfterFailure = NonNullable<ConversationHost["afterFailure"]>;

/**
 * Tells the model and the user if the sandbox is the likely cause of a failed call. The proxy logs refused hosts by itself, so
 * those get no second event.
 */
export function explainBlocked(
  folder: string,
  { hostVariables, sandbox }: Pick<ProcessSettings, "hostVariables" | "sandbox">,
  write: (events: SessionEventBody[]) => void,
): AfterFailure {
  const home = hostVariables["HOME"] || homedir();
  const told = new Set<string>();
  const limits = sandbox?.limits && { limits: sandbox.limits };
  return async ({ error, eventId, mcpServer }) => {
    // MCP servers run outside of the session's sandbox.
    if (mcpServer !== undefined) return {};
    const above = error.includes("not a git repository") ? await repositoryAbove(folder) : undefined;
    const blocked = explainFailure(error, { home, ...limits, ...(above && { repository: above }) });
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

/** The top folder of a repository that the folder is below. */
async function repositoryAbove(folder: string): Promise<string | undefined> {
  const repository = await findRepository(folder);
  return repository && repository.folder !== folder ? repository.folder : undefined;
}
