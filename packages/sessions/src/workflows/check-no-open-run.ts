import { RequestError } from "@tandem/protocol";
import type { OpenRuns } from "../log/open-runs.ts";

/** Throws while a workflow run is open; with `run`, while that one is. */
export function checkNoOpenRun(runs: OpenRuns, run?: string): void {
  if (run === undefined ? runs.size === 0 : !runs.has(run)) return;
  throw new RequestError("invalid_request", "A workflow run of the session is open.", {
    fix: "Wait until it has ended, or interrupt the session with user.interrupt.",
    detail: "workflow_run_open",
  });
}
