import type { Config } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import { listAll } from "@tandem/storage/read-all";

/**
 * Names everything that lets an agent run shell commands unasked: agents by their policy, and the config by its mode and rules.
 * Without a sandbox, such a command has all the rights of the user who runs Tandem.
 */
export async function findUnaskedBash(config: Config, store: Pick<Store, "agents">): Promise<string[]> {
  const { decide } = await import("@tandem/policy/tool-policy");
  const agents: string[] = [];
  for await (const { name, tools } of listAll((query) => store.agents.list(query))) {
    if (decide(tools, { name: "Bash" }).permission === "allow") agents.push(`the agent ${name}`);
  }
  const isAllowed = config.rules.some(
    ({ tool, pattern, action }) => action === "allow" && tool === "Bash" && pattern === undefined,
  );
  return [
    ...(config.sessions.permissionMode === "bypassPermissions" ? ["sessions.permissionMode"] : []),
    ...(isAllowed ? ["a rule that allows Bash"] : []),
    ...new Set(agents),
  ];
}

const SHOWN = 5;

/** One sentence for `status`, `doctor` and the page. */
export function describeUnaskedBash(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "";
  return `Shell commands run without approval and without a sandbox: ${names.slice(0, SHOWN).join(", ")}${more}.`;
}
