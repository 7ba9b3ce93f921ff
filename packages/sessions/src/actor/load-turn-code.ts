import type { ProcessSettings } from "../process/process-settings.ts";
import { sandboxFor } from "../sandbox/sandbox.ts";

/** Loads the code that a turn needs, and probes the sandbox, so that the first turn does not wait for it. */
export async function loadTurnCode({
  prepare,
  sandbox = { mode: "off" },
  hostVariables,
}: Pick<ProcessSettings, "prepare" | "sandbox" | "hostVariables">): Promise<void> {
  prepare?.();
  await Promise.allSettled([
    import("./session-actor.ts"),
    import("../process/session-sandbox.ts"),
    import("../sandbox/session-hosts.ts"),
    import("../sandbox/environment-packages.ts"),
    sandboxFor(sandbox, hostVariables),
  ]);
}
