import { z } from "zod";
import { deletedOf, pageOf, pageQuery } from "../page.ts";

const SOURCES = ["custom", "anthropic", "anthropic_example", "plugin"] as const;

export const skill = z
  .object({
    type: z.literal("skill"),
    id: z.string(),
    display_name: z.string(),
    latest_version_id: z.string(),
    /** `plugin`: a skill of a trusted folder. */
    source: z.object({ type: z.enum(SOURCES) }),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: "Skill" });
export type Skill = z.infer<typeof skill>;

export const skillVersion = z
  .object({
    type: z.literal("skill_version"),
    id: z.string(),
    skill_id: z.string(),
    name: z.string(),
    description: z.string(),
    created_at: z.string(),
  })
  .meta({ id: "SkillVersion" });
export type SkillVersion = z.infer<typeof skillVersion>;

const skillUse = z
  .object({
    skill_id: z.string(),
    /** Trusted folder that it belongs to; null for an uploaded skill. */
    folder: z.string().nullable(),
    /** Agents that are not archived and whose newest version has the skill. */
    agents: z.array(z.object({ id: z.string(), name: z.string(), version: z.string() })),
    versions: z.array(
      z.object({ id: z.string(), size_bytes: z.int().describe("Unpacked."), files: z.int(), sha256: z.string() }),
    ),
  })
  .meta({ id: "SkillUse" });
export type SkillUse = z.infer<typeof skillUse>;

const displayName = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .regex(/^[^\p{Cc}\u2028\u2029]*$/u, "expected a single line");

export const skillsApi = {
  "skills.create": {
    form: z.strictObject({ display_name: displayName.optional() }),
    many: true as const,
    response: skill,
  },
  "skills.list": {
    query: z.strictObject({ ...pageQuery, source: z.enum(SOURCES).optional() }),
    response: pageOf(skill),
  },
  "skills.retrieve": { response: skill },
  "skills.use": { response: skillUse },
  "skills.delete": { response: deletedOf("skill_deleted") },
  "skills.versions.create": { form: z.strictObject({}), many: true as const, response: skillVersion },
  "skills.versions.list": { query: z.strictObject(pageQuery), response: pageOf(skillVersion) },
  "skills.versions.retrieve": { response: skillVersion },
  "skills.versions.delete": { response: deletedOf("skill_version_deleted") },
  "skills.versions.download": { download: true as const },
};
