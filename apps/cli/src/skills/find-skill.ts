import { RequestError, TandemError, type Skill } from "@tandem/protocol";
import { listAll } from "@tandem/tandem/engine";
import type { SessionsClient } from "../sessions/sessions-client.ts";

/** The skill with this id or display name. */
export async function findSkill({ skills }: SessionsClient, idOrName: string): Promise<Skill> {
  if (/^skill_[0-9A-Za-z]+$/.test(idOrName)) return skills.get(idOrName);
  const found: Skill[] = [];
  for await (const skill of listAll((query) => skills.list(query)))
    if (skill.display_name === idOrName) found.push(skill);
  const [skill, ...others] = found;
  if (!skill) {
    throw new RequestError("not_found", `There is no skill ${idOrName}.`, {
      fix: "List them with `tandem skills list`.",
    });
  }
  if (others.length === 0) return skill;
  throw new TandemError("usage", `${found.length} skills have the name ${idOrName}.`, {
    fix: `Name one by its id: ${found.map(({ id }) => id).join(", ")}.`,
  });
}
