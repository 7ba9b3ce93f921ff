import type { Skill, SkillId, SkillUse, SkillVersion, SkillVersionId } from "@tandem/protocol";
import type { Page, PageQuery } from "@tandem/storage";
import type { SkillUpload } from "./skill-bundle.ts";

/** Skills: folders of instructions that agents load when they need them. Versions never change. */
export interface Skills {
  create(
    params: { files: readonly SkillUpload[]; displayName?: string | undefined; by: string },
    ids?: { skill: SkillId; version: SkillVersionId },
  ): Promise<Skill>;
  get(id: string): Promise<Skill>;
  /** Newest first; skills of trusted folders come last. */
  list(query: PageQuery & { source?: Skill["source"]["type"] | undefined }): Promise<Page<Skill>>;
  /** Deletes it with all versions. */
  delete(id: string, by: string): Promise<void>;
  /** The agents that have a skill, and the sizes of its versions. */
  use(id: string): Promise<SkillUse>;
  createVersion(
    id: string,
    params: { files: readonly SkillUpload[]; by: string },
    version?: SkillVersionId,
  ): Promise<SkillVersion>;
  /** `version`: an id or `latest`. */
  version(id: string, version: string): Promise<SkillVersion>;
  /** Newest first. */
  versions(id: string, query: PageQuery): Promise<Page<SkillVersion>>;
  /** Refused for the only version. */
  deleteVersion(id: string, version: string, by: string): Promise<void>;
  /** The zip archive of a version: one folder, named like the skill. */
  content(id: string, version: string): Promise<{ filename: string; size: number; read: () => Promise<Uint8Array> }>;
}
