import { RequestError, type Agent, type AgentSkill, type AgentSkillParams, type Tool } from "@tandem/protocol";
import { LATEST, type SkillCatalogue } from "./skill-catalogue.ts";

/** Where agents and sessions find the skills that they refer to. */
export type SkillReader = Pick<SkillCatalogue, "stored" | "get" | "anthropicSkills">;

/** Skills that a session loads, of all its agents together. */
const MAX_IN_SESSION = 500;

/**
 * Validates the skills of an agent. An agent without a version follows the newest one: each session gets the newest at
 * its creation. Skills in `kept` were valid before and are not looked up, so that a deleted skill does not block other
 * changes of the agent.
 */
export async function resolveAgentSkills(
  params: readonly AgentSkillParams[],
  { tools, kept, reader }: { tools: readonly Tool[]; kept: readonly AgentSkill[]; reader: SkillReader },
): Promise<AgentSkill[]> {
  const resolved: AgentSkill[] = [];
  const names = new Map<string, number>();
  for (const [index, { type, skill_id, version }] of params.entries()) {
    const entry: AgentSkill = { type, skill_id, version: version ?? LATEST };
    if (resolved.some((other) => other.skill_id === skill_id)) {
      throw new RequestError("invalid_request", `skills[${index}].skill_id: ${skill_id} is there twice.`);
    }
    if (type === "anthropic") {
      if (reader.anthropicSkills === "refuse") throw ownedByAnthropic(index, skill_id);
      resolved.push(entry);
      continue;
    }
    const isKept = kept.some((other) => other.skill_id === skill_id && other.version === entry.version);
    const found = await reader.stored(skill_id, entry.version);
    if (!found && !isKept) throw await notFound(entry, `skills[${index}]`, reader);
    const same = found && names.get(found.name);
    if (same !== undefined) {
      const message = `skills[${index}]: has the name "${found!.name}", like skills[${same}].`;
      throw new RequestError("invalid_request", message, { fix: "An agent calls skills by name: keep one of them." });
    }
    if (found) names.set(found.name, index);
    resolved.push(entry);
  }
  checkSkillTools(params, tools);
  return resolved;
}

/** Refuses an agent that could not read the files of its skills. */
export function checkSkillTools(skills: readonly unknown[], tools: readonly Tool[]): void {
  if (skills.length === 0 || canRead(tools)) return;
  throw new RequestError("invalid_request", "skills: the agent's tools lack `read`, which skills need.", {
    fix: "Add {type: agent_toolset_20260401} with `read` enabled to tools.",
  });
}

/** The skills of a new session's agent, each pinned to a version. */
export async function pinSkills(skills: readonly AgentSkill[], reader: SkillReader): Promise<AgentSkill[]> {
  return Promise.all(
    skills.map(async (skill): Promise<AgentSkill> => {
      if (skill.type === "anthropic") return skill;
      const found = await reader.stored(skill.skill_id, skill.version);
      if (!found) throw await notFound(skill, "agent.skills", reader);
      return { ...skill, version: found.id };
    }),
  );
}

/** Refuses a session whose agents have too many skills. */
export function checkSkillCount(agents: readonly Pick<Agent, "skills">[]): void {
  const count = agents.reduce((sum, { skills }) => sum + skills.length, 0);
  if (count <= MAX_IN_SESSION) return;
  throw new RequestError("invalid_request", `agent: its agents have ${count} skills; ${MAX_IN_SESSION} are the most.`);
}

/** Whether an agent has the tool that reads the files of skills. */
export function canRead(tools: readonly Tool[]): boolean {
  const toolset = tools.find((tool) => tool.type === "agent_toolset_20260401");
  return toolset ? (toolset.configs.find(({ name }) => name === "read") ?? toolset.default_config).enabled : false;
}

async function notFound({ skill_id: id, version }: AgentSkill, place: string, reader: SkillReader) {
  const known = await reader.get(id).catch(() => undefined);
  if (known?.source.type === "plugin") {
    return new RequestError("invalid_request", `${place}: ${id} belongs to a trusted folder.`, {
      fix: "Leave it out: sessions in that folder load it by themselves.",
    });
  }
  const message = known
    ? `${place}.version: there is no version ${version} of the skill ${id}.`
    : `${place}.skill_id: there is no skill ${id}.`;
  return new RequestError("invalid_request", message, {
    fix: "`tandem skills list` shows the skills. Upload it again, or take it out of the agent.",
    detail: "skill_not_found",
  });
}

/** Local programs that create the documents of Anthropic's own skills. */
const INSTEAD: Readonly<Record<string, string>> = {
  xlsx: "exceljs (npm) or openpyxl (pip)",
  pptx: "pptxgenjs (npm) or python-pptx (pip)",
  docx: "docx (npm), python-docx (pip) or pandoc (apt)",
  pdf: "pdf-lib (npm), pypdf (pip) or poppler-utils (apt)",
};

function ownedByAnthropic(index: number, id: string): RequestError {
  const tool = INSTEAD[id];
  return new RequestError(
    "invalid_request",
    `skills[${index}]: "${id}" is a skill of Anthropic's service, which Tandem cannot ship.`,
    {
      fix: `Upload your own copy as a custom skill (tandem skills add FOLDER)${tool ? `, or let the agent use ${tool}` : ""}.`,
    },
  );
}
