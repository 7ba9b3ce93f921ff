import { RequestError, type Clock } from "@tandem/protocol";
import { recordPages, type Blobs, type RecordChange, type Records, type StoredRecord } from "@tandem/storage";
import { z } from "zod";
import { orOutrun } from "../host/until-written.ts";

const SPACE = "skills";
const SKILL = "skill";
const VERSION = "version";
const UNUSED = "unused";
/** An upload that has not been committed after this time has died with its process. */
const ABANDONED_MS = 3_600_000;
const AT_ONCE = 500;

const storedSkill = z.object({
  id: z.string(),
  name: z.string(),
  display_name: z.string(),
  latest_version_id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type StoredSkill = z.infer<typeof storedSkill>;

const storedVersion = z.object({
  id: z.string(),
  skill_id: z.string(),
  name: z.string(),
  description: z.string(),
  created_at: z.string(),
  /** Of the archive. */
  sha256: z.string(),
  archive_bytes: z.int(),
  size_bytes: z.int(),
  files: z.int(),
});
export type StoredVersion = z.infer<typeof storedVersion>;

const unusedArchive = z.object({ at: z.number(), archive_bytes: z.int() });

/** An archive that no version has yet. */
export interface StoredArchive {
  sha256: string;
  bytes: number;
  /** Of its entry among the unused archives. */
  revision: number;
}

/** A skill and the version of its record, which every change of it or of its versions must match. */
export interface SkillAt {
  skill: StoredSkill;
  revision: number;
}

const versionSpace = (version: string): string => `skill:${version}`;
export const isVersionSpace = (space: string): boolean => space.startsWith("skill:");
const versionKey = (skill: string, version: string): string => `${skill}/${version}`;

/**
 * Skills in the store. Every archive has a blob space of its own and is listed as unused before it is written. The
 * transaction that commits its version removes it from that list; the one that deletes the version adds it again. So a
 * process that dies at any point leaves either a whole version or an archive that `sweep` deletes.
 */
export class SkillStore {
  readonly #records: Records;
  readonly #blobs: Blobs;
  readonly #clock: Clock;

  constructor({ records, blobs }: { records: Records; blobs: Blobs }, clock: Clock) {
    this.#records = records;
    this.#blobs = blobs;
    this.#clock = clock;
  }

  async skill(id: string): Promise<SkillAt | undefined> {
    const record = await this.#records.get(SPACE, SKILL, id);
    return record && { skill: storedSkill.parse(record.value), revision: record.version };
  }

  /** Newest first. */
  async skills(query: { after?: string | undefined; limit: number }): Promise<StoredSkill[]> {
    return (await this.#list(SKILL, query)).map(({ value }) => storedSkill.parse(value));
  }

  async version(skill: string, version: string): Promise<StoredVersion | undefined> {
    const record = await this.#records.get(SPACE, VERSION, versionKey(skill, version));
    return record && storedVersion.parse(record.value);
  }

  /** Newest first. */
  async versions(skill: string, { after, limit }: { after?: string | undefined; limit: number }) {
    const query = { prefix: `${skill}/`, limit, ...(after !== undefined && { after: versionKey(skill, after) }) };
    return (await this.#list(VERSION, query)).map(({ value }) => storedVersion.parse(value));
  }

  async allVersions(skill: string): Promise<StoredVersion[]> {
    const all: StoredVersion[] = [];
    const range = { prefix: `${skill}/`, order: "desc" } as const;
    for await (const page of recordPages(this.#records, SPACE, VERSION, range)) {
      all.push(...page.map(({ value }) => storedVersion.parse(value)));
    }
    return all;
  }

  /** Stores an archive. Its version must be committed with `add` afterwards. */
  async putArchive(version: string, archive: Uint8Array): Promise<StoredArchive> {
    await this.#records.write(SPACE, [this.#unused(version, archive.byteLength)]);
    const listed = await this.#records.get(SPACE, UNUSED, version);
    try {
      const sha256 = await this.#blobs.put(versionSpace(version), archive);
      return { sha256, bytes: archive.byteLength, revision: listed?.version ?? 0 };
    } catch (error) {
      // A quota refused it, so nothing was written; its entry would count towards the quota.
      if (isRefusal(error)) await this.#records.write(SPACE, [{ type: "delete", kind: UNUSED, key: version }]);
      throw error;
    }
  }

  async archive({ id, sha256 }: Pick<StoredVersion, "id" | "sha256">): Promise<Uint8Array | undefined> {
    return this.#blobs.get(versionSpace(id), sha256);
  }

  /** Commits a version whose archive is stored. Rejects with `Outrun` if the skill changed in the meantime. */
  async add(version: StoredVersion, archive: StoredArchive, { skill, revision }: SkillAt): Promise<void> {
    await this.#change([
      // Fails if the archive was swept because this process was suspended for long.
      { ...this.#unused(version.id, archive.bytes), version: archive.revision },
      { type: "put", kind: SKILL, key: skill.id, value: skill, version: revision },
      { type: "put", kind: VERSION, key: versionKey(skill.id, version.id), value: version, version: 0 },
      { type: "delete", kind: UNUSED, key: version.id },
    ]);
  }

  /** Deletes versions, and the skill itself unless it `remains`. */
  async remove(versions: readonly StoredVersion[], { skill, revision }: SkillAt, remains: boolean): Promise<void> {
    const changes: RecordChange[] = [
      // Written even if it is deleted: a deletion alone would not notice a concurrent change.
      { type: "put", kind: SKILL, key: skill.id, value: skill, version: revision },
      ...(remains ? [] : [{ type: "delete", kind: SKILL, key: skill.id } as const]),
    ];
    for (const version of versions) {
      changes.push({ type: "delete", kind: VERSION, key: versionKey(skill.id, version.id) });
      changes.push(this.#unused(version.id, version.archive_bytes));
    }
    await this.#change(changes);
    for (const { id } of versions) await this.discard(id);
  }

  async discard(version: string): Promise<void> {
    await this.#blobs.prune(versionSpace(version), new Set());
    await this.#records.write(SPACE, [{ type: "delete", kind: UNUSED, key: version }]);
  }

  /** Deletes archives of uploads and deletions that a dead process left. */
  async sweep(): Promise<void> {
    for (const { key, value } of await this.#records.list(SPACE, UNUSED, { limit: AT_ONCE })) {
      if (unusedArchive.parse(value).at > this.#clock.now() - ABANDONED_MS) continue;
      // Claimed first, so that a suspended upload cannot commit it.
      await this.#records.write(SPACE, [{ type: "put", kind: UNUSED, key, value }]);
      await this.discard(key);
    }
  }

  #unused(version: string, bytes: number): Extract<RecordChange, { type: "put" }> {
    return {
      type: "put",
      kind: UNUSED,
      key: version,
      value: { at: this.#clock.now(), archive_bytes: bytes } satisfies z.infer<typeof unusedArchive>,
    };
  }

  #change(changes: readonly RecordChange[]): Promise<void> {
    return orOutrun(this.#records.write(SPACE, changes));
  }

  #list(
    kind: string,
    { prefix = "", after, limit }: { prefix?: string; after?: string | undefined; limit: number },
  ): Promise<StoredRecord[]> {
    return this.#records.list(SPACE, kind, { prefix, limit, order: "desc", ...(after !== undefined && { after }) });
  }
}

/** Only a refusal proves that nothing was written. */
export const isRefusal = (error: unknown): boolean => error instanceof RequestError && error.code !== "unavailable";

/** The bytes that archives of skills take, also those that are not committed yet. */
export async function skillBytes(records: Records): Promise<number> {
  const counted = z.object({ archive_bytes: z.int() });
  let bytes = 0;
  for (const kind of [VERSION, UNUSED]) {
    for await (const page of recordPages(records, SPACE, kind)) {
      for (const { value } of page) bytes += counted.parse(value).archive_bytes;
    }
  }
  return bytes;
}
