import type { SkillUse } from "@tandem/protocol";
import type { AgentStore } from "@tandem/storage";

const AT_ONCE = 200;

/** The agents whose newest version has a skill. Archived agents cannot start sessions and are left out. */
export async function agentsWith(skill: string, agents: AgentStore): Promise<SkillUse["agents"]> {
  const found: SkillUse["agents"] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await agents.list({ limit: AT_ONCE, ...(cursor !== undefined && { cursor }) });
    for (const { id, name, skills } of page.data) {
      const had = skills.find(({ skill_id }) => skill_id === skill);
      if (had) found.push({ id, name, version: had.version });
    }
    cursor = page.next;
  }
  return found;
}
