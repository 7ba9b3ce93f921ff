import { loadProcesses } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";

/**
 * Limits on the Claude Code processes of a server. Single calls have their own share: a turn may wait for a call, and a shared
 * limit could deadlock. `maxSessions`: how many sessions the operator lets a worker of a fleet hold.
 */
export async function processLimits(
  { config: { sessions, llm } }: Project,
  maxSessions: number | undefined,
): Promise<NonNullable<Host["processes"]>> {
  const { defaultProcessLimit, ProcessSlots } = await loadProcesses();
  const calls = Math.max(llm.pool.size, llm.limits.concurrency);
  const share = llm.provider.backend === "claude-code" ? calls : 0;
  const limit = sessions.maxProcesses ?? maxSessions ?? Math.max(1, defaultProcessLimit() - share);
  return { sessions: new ProcessSlots(limit), calls: new ProcessSlots(calls) };
}
