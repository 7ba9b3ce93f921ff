import { LlmError } from "@tandem/protocol";
import { checkAuth } from "../check-auth.ts";
import type { Project } from "../config/load-project.ts";
import type { Context } from "../context.ts";

/** Rejects with what to do where calls would not work. Spends nothing. */
export async function checkLogin(context: Context, project: Project, deadlineMs: number): Promise<void> {
  const { state, detail, fix } = await checkAuth(context, project, deadlineMs);
  if (state === "usable" || state === "unverified") return;
  throw new LlmError("not_logged_in", detail, { fix });
}
