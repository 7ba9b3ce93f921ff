import {
  newId,
  RequestError,
  type AuditNote,
  type Skill,
  type SkillId,
  type SkillUse,
  type SkillVersion,
  type SkillVersionId,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import { listAll, type AgentStore, type Blobs, type Page, type PageQuery, type Records } from "@tandem/storage";
import { untilWritten } from "../host/until-written.ts";
import type { FolderSkill } from "./folder-skills.ts";
import { readBundle, type SkillBundle, type SkillUpload } from "./skill-bundle.ts";
import { isRefusal, SkillStore, type SkillAt, type StoredSkill, type StoredVersion } from "./skill-store.ts";
import { packZip } from "./zip-archive.ts";

export interface SkillSettings {
  /** Treatment of skills that only Anthropic's service has. An emulator omits them. Default: `refuse`. */
  anthropicSkills?: "refuse" | "leave_out";
}

interface CatalogueSettings extends SkillSettings {
  store: { records: Records; blobs: Blobs; agents: AgentStore };
  clock: Clock;
  /** The skills of trusted folders. */
  ofFolders: () => Promise<FolderSkill[]>;
  note: (note: AuditNote) => Promise<void>;
}

/** Skills: folders of instructions that agents load when they need them. Versions never change. */
export class SkillCatalogue {
  readonly #store: SkillStore;
  readonly #settings: CatalogueSettings;
  readonly anthropicSkills: NonNullable<SkillSettings["anthropicSkills"]>;

  constructor(settings: CatalogueSettings) {
    this.#settings = settings;
    this.anthropicSkills = settings.anthropicSkills ?? "refuse";
    this.#store = new SkillStore(settings.store, settings.clock);
  }

  async create(
    { files, displayName, by }: { files: readonly SkillUpload[]; displayName?: string | undefined; by: string },
    ids = { skill: newId("skill"), version: newId("skillVersion") },
  ): Promise<Skill> {
    const bundle = await readBundle(files);
    const at = isoNow(this.#settings.clock);
    const { version, archive } = await this.#upload(bundle, ids);
    const skill: StoredSkill = {
      id: ids.skill,
      name: bundle.name,
      display_name: displayName ?? bundle.name,
      latest_version_id: ids.version,
      created_at: at,
      updated_at: at,
    };
    await this.#commit(version, () => untilWritten(() => this.#store.add(version, archive, { skill, revision: 0 })));
    await this.#note("skill.created", by, version, { display_name: skill.display_name });
    return toSkill(skill, "custom");
  }

  async get(id: string): Promise<Skill> {
    const found = await this.#store.skill(id);
    if (found) return toSkill(found.skill, "custom");
    return toSkill((await this.#ofFolder(id)).skill, "plugin");
  }

  /** Newest first; skills of trusted folders come last. */
  async list({
    limit,
    cursor,
    source,
  }: PageQuery & { source?: Skill["source"]["type"] | undefined }): Promise<Page<Skill>> {
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const wantsCustom = source === undefined || source === "custom";
    const wantsFolders = source === undefined || source === "plugin";
    const custom = wantsCustom ? await this.#store.skills({ after, limit: limit + 1 }) : [];
    const rest = limit + 1 - custom.length;
    const folders = wantsFolders && rest > 0 ? await this.#settings.ofFolders() : [];
    const later = folders.filter(({ skill }) => after === undefined || skill.id < after).slice(0, rest);
    return toPage(limit, [
      ...custom.map((skill) => toSkill(skill, "custom")),
      ...later.map(({ skill }) => toSkill(skill, "plugin")),
    ]);
  }

  /** Deletes it with all versions. */
  async delete(id: string, by: string): Promise<void> {
    const removed = await untilWritten(async () => {
      const at = await this.#stored(id);
      const versions = await this.#store.allVersions(id);
      await this.#store.remove(versions, at, false);
      return { ...at.skill, versions: versions.length };
    });
    const { name, display_name: displayName, versions } = removed;
    await this.#settings.note({
      kind: "skill.deleted",
      actor: by,
      details: { skill_id: id, name, display_name: displayName, versions },
    });
  }

  /** The agents that have a skill, and the sizes of its versions. */
  async use(id: string): Promise<SkillUse> {
    const found = await this.#store.skill(id);
    const folder = found ? undefined : await this.#ofFolder(id);
    const versions = folder ? [folder.version] : await this.#store.allVersions(id);
    return {
      skill_id: id,
      folder: folder?.folder ?? null,
      agents: await agentsWith(id, this.#settings.store.agents),
      versions: versions.map(({ id: version, size_bytes, files, sha256 }) => ({
        id: version,
        size_bytes,
        files,
        sha256,
      })),
    };
  }

  async createVersion(
    id: string,
    { files, by }: { files: readonly SkillUpload[]; by: string },
    versionId: SkillVersionId = newId("skillVersion"),
  ): Promise<SkillVersion> {
    const { skill } = await this.#stored(id);
    const bundle = await readBundle(files);
    if (bundle.name !== skill.name) {
      throw new RequestError(
        "invalid_request",
        `files: SKILL.md: name: is "${bundle.name}", but every version of this skill is named "${skill.name}".`,
        { fix: "Keep the name, or create another skill." },
      );
    }
    const { version, archive } = await this.#upload(bundle, { skill: id as SkillId, version: versionId });
    await this.#commit(version, () =>
      untilWritten(async () => this.#store.add(version, archive, withVersion(await this.#stored(id), version))),
    );
    await this.#note("skill.version_created", by, version);
    return toVersion(version);
  }

  /** `version`: an id or `latest`. */
  async version(id: string, version: string): Promise<SkillVersion> {
    return toVersion((await this.#version(id, version)).version);
  }

  /** Newest first. */
  async versions(id: string, { limit, cursor }: PageQuery): Promise<Page<SkillVersion>> {
    const after = cursor === undefined ? undefined : readCursor(cursor);
    if (!(await this.#store.skill(id))) {
      const { version } = await this.#ofFolder(id);
      return toPage(limit, after === undefined ? [toVersion(version)] : []);
    }
    return toPage(limit, (await this.#store.versions(id, { after, limit: limit + 1 })).map(toVersion));
  }

  /** Refused for the only version. */
  async deleteVersion(id: string, version: string, by: string): Promise<void> {
    const removed = await untilWritten(async () => {
      const { skill, revision } = await this.#stored(id);
      const found = await this.#store.version(id, version);
      if (!found) throw noVersion(id, version);
      const [newest, second] = await this.#store.versions(id, { limit: 2 });
      if (!second) {
        throw new RequestError("invalid_request", `${version} is the only version of the skill ${id}.`, {
          fix: "Delete the skill, or add another version first.",
        });
      }
      const latest = newest!.id === version ? second.id : newest!.id;
      const changed = { ...skill, latest_version_id: latest, updated_at: isoNow(this.#settings.clock) };
      await this.#store.remove([found], { skill: changed, revision }, true);
      return found;
    });
    await this.#note("skill.version_deleted", by, removed);
  }

  /** The zip archive of a version: one folder, named like the skill. */
  async content(
    id: string,
    version: string,
  ): Promise<{ filename: string; size: number; read: () => Promise<Uint8Array> }> {
    const { version: found, archive } = await this.#version(id, version);
    const read = async (): Promise<Uint8Array> => {
      const bytes = await archive();
      if (!bytes) throw noVersion(id, version);
      return bytes;
    };
    return { filename: `${found.name}.zip`, size: found.archive_bytes, read };
  }

  /** Deletes what dead processes left. */
  sweep(): Promise<void> {
    return this.#store.sweep();
  }

  /** A version that sessions can load; undefined if it was deleted. Skills of folders are not among them. */
  async stored(id: string, version: string): Promise<StoredVersion | undefined> {
    const found = await this.#store.skill(id);
    return found && this.#store.version(id, version === LATEST ? found.skill.latest_version_id : version);
  }

  async #upload(bundle: SkillBundle, ids: { skill: SkillId; version: SkillVersionId }) {
    await this.#store.sweep();
    const packed = await packZip(
      bundle.files.map(({ path, content }) => ({ path: `${bundle.name}/${path}`, content })),
    );
    const archive = await this.#store.putArchive(ids.version, packed);
    const version: StoredVersion = {
      id: ids.version,
      skill_id: ids.skill,
      name: bundle.name,
      description: bundle.description,
      created_at: isoNow(this.#settings.clock),
      sha256: archive.sha256,
      archive_bytes: archive.bytes,
      size_bytes: bundle.files.reduce((sum, { content }) => sum + content.length, 0),
      files: bundle.files.length,
    };
    return { version, archive };
  }

  async #commit({ id }: StoredVersion, commit: () => Promise<void>): Promise<void> {
    try {
      await commit();
    } catch (error) {
      if (isRefusal(error)) await this.#store.discard(id);
      throw error;
    }
  }

  async #stored(id: string): Promise<SkillAt> {
    const found = await this.#store.skill(id);
    if (found) return found;
    const { folder } = await this.#ofFolder(id);
    throw new RequestError("invalid_request", `The skill ${id} belongs to the folder ${folder}.`, {
      fix: "Change its files there, and trust the folder again.",
    });
  }

  async #version(id: string, version: string) {
    const at = await this.#store.skill(id);
    if (!at) {
      const folder = await this.#ofFolder(id);
      if (version === LATEST || version === folder.version.id) return folder;
      throw noVersion(id, version);
    }
    const found = await this.#store.version(id, version === LATEST ? at.skill.latest_version_id : version);
    if (!found) throw noVersion(id, version);
    return { version: found, archive: () => this.#store.archive(found) };
  }

  async #ofFolder(id: string): Promise<FolderSkill> {
    const found = (await this.#settings.ofFolders()).find(({ skill }) => skill.id === id);
    if (!found) throw new RequestError("not_found", `There is no skill ${id}.`);
    return found;
  }

  #note(kind: AuditNote["kind"], by: string, version: StoredVersion, more: Record<string, unknown> = {}) {
    const { id, skill_id: skill, name, sha256, size_bytes: bytes } = version;
    const details = { skill_id: skill, version: id, name, sha256, size_bytes: bytes, ...more };
    return this.#settings.note({ kind, actor: by, details });
  }
}

export type Skills = Omit<SkillCatalogue, "anthropicSkills" | "sweep" | "stored">;

export const LATEST = "latest";

/** Concurrent uploads may commit in another order than their ids. */
const withVersion = ({ skill, revision }: SkillAt, { id, created_at: at }: StoredVersion): SkillAt => ({
  skill: {
    ...skill,
    latest_version_id: id > skill.latest_version_id ? id : skill.latest_version_id,
    updated_at: at > skill.updated_at ? at : skill.updated_at,
  },
  revision,
});

const toSkill = (skill: StoredSkill, source: Skill["source"]["type"]): Skill => ({
  type: "skill",
  id: skill.id,
  display_name: skill.display_name,
  latest_version_id: skill.latest_version_id,
  source: { type: source },
  created_at: skill.created_at,
  updated_at: skill.updated_at,
});

const toVersion = ({ id, skill_id, name, description, created_at }: StoredVersion): SkillVersion => ({
  type: "skill_version",
  id,
  skill_id,
  name,
  description,
  created_at,
});

/** `found` has one more than the limit if there is a next page. */
function toPage<T extends { id: string }>(limit: number, found: readonly T[]): Page<T> {
  const data = found.slice(0, limit);
  const next = found.length > limit ? Buffer.from(data.at(-1)!.id).toString("base64url") : null;
  return { data, next, previous: null };
}

function readCursor(cursor: string): string {
  const id = Buffer.from(cursor, "base64url").toString("utf8");
  if (/^skill(ver)?_[0-9A-Za-z]{1,64}$/.test(id)) return id;
  throw new RequestError("invalid_request", "This cursor does not belong to this list.", {
    fix: "Pass a page's cursors on as they came, or start again without a cursor.",
  });
}

const noVersion = (skill: string, version: string): RequestError =>
  new RequestError("not_found", `There is no version ${version} of the skill ${skill}.`);

/** The agents whose newest version has a skill. Archived agents cannot start sessions and are left out. */
async function agentsWith(skill: string, agents: AgentStore): Promise<SkillUse["agents"]> {
  const found: SkillUse["agents"] = [];
  for await (const { id, name, skills } of listAll((query) => agents.list(query))) {
    const had = skills.find(({ skill_id }) => skill_id === skill);
    if (had) found.push({ id, name, version: had.version });
  }
  return found;
}
