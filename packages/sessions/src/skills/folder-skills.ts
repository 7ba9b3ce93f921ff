import { createHash } from "node:crypto";
import { posix } from "node:path";
import { parseFrontMatter } from "@tandem/workspace";
import type { FolderTrust } from "../trust/folder-trust.ts";
import type { StoredSkill, StoredVersion } from "./skill-store.ts";
import { packZip, type ArchivedFile } from "./zip-archive.ts";

const SKILL = /^\.claude\/skills\/([^/]+)\/SKILL\.md$/;
/** No id of an upload begins with the year 1970, so that these sort last. */
const NO_TIME = "0000000000";

/** A skill of a trusted folder. Sessions of that folder load it by themselves. */
export interface FolderSkill {
  folder: string;
  skill: StoredSkill;
  version: StoredVersion;
  archive: () => Promise<Uint8Array>;
}

/** The skills of trusted folders, newest id first. Their ids depend on folder and name, their versions on the content. */
export async function folderSkills(trusts: readonly FolderTrust[]): Promise<FolderSkill[]> {
  const found = await Promise.all(trusts.map(skillsOf));
  return found.flat().sort((a, b) => (a.skill.id < b.skill.id ? 1 : -1));
}

async function skillsOf({ trusted, folder, since, config }: FolderTrust): Promise<FolderSkill[]> {
  if (!trusted || !config) return [];
  return Promise.all(
    config.files.flatMap((path) => {
      const name = SKILL.exec(path)?.[1];
      if (name === undefined) return [];
      const within = `${posix.dirname(path)}/`;
      const files = config.files
        .filter((other) => other.startsWith(within))
        .map((other): ArchivedFile => ({
          path: `${name}/${other.slice(within.length)}`,
          content: config.bytes(other)!,
        }));
      return [describe({ name, folder, at: since ?? new Date(0).toISOString(), files, main: config.text(path) ?? "" })];
    }),
  );
}

interface Found {
  name: string;
  folder: string;
  at: string;
  files: ArchivedFile[];
  main: string;
}

async function describe({ name, folder, at, files, main }: Found): Promise<FolderSkill> {
  const archive = await packZip(files);
  const sha256 = createHash("sha256").update(archive).digest("hex");
  const id = `skill_${NO_TIME}${shortHash(`${folder}\n${name}`)}`;
  const versionId = `skillver_${NO_TIME}${shortHash(`${id}\n${sha256}`)}`;
  const skill = { id, name, display_name: name, latest_version_id: versionId, created_at: at, updated_at: at };
  const version = {
    id: versionId,
    skill_id: id,
    name,
    description: descriptionOf(main),
    created_at: at,
    sha256,
    archive_bytes: archive.length,
    size_bytes: files.reduce((sum, { content }) => sum + content.length, 0),
    files: files.length,
  };
  return { folder, skill, version, archive: async () => archive };
}

const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16).toUpperCase();

function descriptionOf(text: string): string {
  try {
    const { description } = parseFrontMatter(text).head;
    return typeof description === "string" ? description : "";
  } catch {
    return "";
  }
}
