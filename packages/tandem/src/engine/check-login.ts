import { LlmError } from "@tandem/protocol";
import { checkAuth, isPresent } from "../models/check-auth.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";

/** Throws with the next step if no credential is found or it is known to fail. Spends no tokens. */
export async function checkLogin(host: Host, project: Project, deadlineMs: number): Promise<void> {
  const auth = await checkAuth(host, project, deadlineMs);
  if (!isPresent(auth)) throw new LlmError("not_logged_in", auth.detail, { fix: auth.fix });
}
