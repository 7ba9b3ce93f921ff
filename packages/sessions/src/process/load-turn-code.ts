import type { ProcessSettings } from "./process-settings.ts";
import { sandboxFor } from "./sandbox.ts";

/** Loads the code that a turn needs, and probes the sandbox, so that the first turn does not wait for it. */
export async function loadTurnCode({
  prepare,
  sandbox = { mode: "off" },
  hostVariables,
}: Pick<ProcessSettings, "prepare" | "sandbox" | "hostVariables">): Promise<void> {
  prepare?.();
  await Promise.allSettled([
    import("../actor/session-actor.ts"),
    import("./session-sandbox.ts"),
    import("./session-hosts.ts"),
    import("./environment-packages.ts"),
    sandboxFor(sandbox, hostVariables),
  ]);
}
