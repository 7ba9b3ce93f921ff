import { letUserReach, type Mount, type SandboxPlan } from "@tandem/sandbox";
import type { BootHooks } from "./allowed-call.ts";
import type { ConversationSetup } from "./conversation.ts";
import { programPath, skillFolders } from "./process-options.ts";

/** The plan of a conversation's sandbox with the files that Claude Code needs. Undefined without a sandbox. */
export function processPlan(
  setup: ConversationSetup,
  process: { env: Readonly<Record<string, string | undefined>>; bootHooks: BootHooks | undefined },
): SandboxPlan | undefined {
  const { sandbox, readOnly = [] } = setup;
  if (!sandbox?.on || sandbox.covers !== "process") return undefined;
  const configDir = process.env["CLAUDE_CONFIG_DIR"] ?? sandbox.configDir;
  const read = (from: string): Mount => ({ from, access: "read" });
  const { user, home } = sandbox.plan;
  if (user) {
    const read = [...skillFolders(setup), ...(process.bootHooks ? [process.bootHooks.folder] : [])];
    letUserReach({ user, base: setup.stateFolder, owned: [home.from], given: [configDir], read });
  }
  return {
    ...sandbox.plan,
    mounts: [
      ...sandbox.plan.mounts,
      { from: configDir, access: "write" },
      read(programPath(setup)),
      ...skillFolders(setup).map(read),
      ...readOnly.map((from): Mount => ({ from, access: "read", optional: true })),
      // Last, so that nothing covers the decisions.
      ...(process.bootHooks ? [read(process.bootHooks.folder)] : []),
    ],
  };
}
