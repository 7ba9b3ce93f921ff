import { LlmError } from "@tandem/protocol";
import { checkAuth } from "../models/check-auth.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../host.ts";

/** Throws with the next step if calls would fail. Spends no tokens. */
export async function checkLogin(host: Host, project: Project, deadlineMs: number): Promise<void> {
  const { state, detail, fix } = await checkAuth(host, project, deadlineMs);
  if (state === "usable" || state === "unverified") return;
  throw new LlmError("not_logged_in", detail, { fix });
}
