import { randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import type { AgentSkill, SessionEventBody, Clock } from "@tandem/protocol";
import type { SessionRow, Store } from "@tandem/storage";
import { splitFrontMatter } from "@tandem/workspace";
import { rosterOf } from "../log/agent-roster.ts";
import { SKILL_FILE, unpackBundle } from "./skill-bundle.ts";
import { SkillStore, type StoredVersion } from "./skill-store.ts";
import { modeOf } from "./zip-archive.ts";

/** Copies that processes left which did not end properly. */
const LEFT_MS = 7 * 24 * 60 * 60 * 1_000;
/** Folders from which Claude Code would load settings, hooks or further skills by itself. */
const LOADED_BY_ITSELF = new Set([".claude", ".claude-plugin"]);

/** The skills of a session's agents, as a folder for one process. */
export interface SessionSkills extends AsyncDisposable {
  /** A plugin folder for Claude Code; undefined if there are no skills. */
  folder: string | undefined;
  names: readonly string[];
  /** Notices about skills that were deleted since the session was created. */
  events: SessionEventBody[];
}

/**
 * Copies the skills of a session's agents into a folder of its own, read-only and outside its working folder. The folder
 * exists as long as the process; its path is the same for each process of the session, because the transcript names it.
 */
export async function openSessionSkills(
  row: Pick<SessionRow, "id" | "agent">,
  { store, stateFolder, clock }: { store: Pick<Store, "records" | "blobs">; stateFolder: string; clock: Clock },
): Promise<SessionSkills> {
  const wanted = wantedSkills(row);
  if (wanted.length === 0) return NONE;
  const skills = new SkillStore(store, clock);
  // Where Claude Code may read: a skill refers to files next to it.
  const copies = join(stateFolder, "claude-code", "agent-skills");
  const folder = join(copies, row.id);
  const draft = `${folder}.${randomUUID()}`;
  const loaded: StoredVersion[] = [];
  const events: SessionEventBody[] = [];
  await mkdir(copies, { recursive: true, mode: 0o700 });
  await removeLeft(copies, clock.now() - LEFT_MS);
  try {
    for (const { skill_id: id, version } of wanted) {
      const found = await skills.version(id, version);
      const archive = found && (await skills.archive(found));
      if (!found || !archive) events.push(missing(id, version));
      else if (loaded.some(({ name }) => name === found.name)) events.push(shadowed(found));
      else {
        await unpackInto(join(draft, "skills", found.name), found, archive);
        loaded.push(found);
      }
    }
    if (loaded.length === 0) return { ...NONE, events };
    await writeReadOnly(join(draft, MANIFEST), Buffer.from(`${JSON.stringify({ name: PLUGIN })}\n`));
    await eachFolder(draft, 0o500);
    await remove(folder);
    await rename(draft, folder);
  } catch (error) {
    await remove(draft);
    throw error;
  }
  const names = loaded.map(({ name }) => name);
  return { folder, names, events, [Symbol.asyncDispose]: () => remove(folder) };
}

/** The plugin's name, which Claude Code puts before the names of its skills. */
const PLUGIN = "skills";
const MANIFEST = ".claude-plugin/plugin.json";

const NONE: SessionSkills = {
  folder: undefined,
  names: [],
  events: [],
  [Symbol.asyncDispose]: async () => undefined,
};

/** The skills of the session's agent first, then those of the agents that it calls. */
function wantedSkills({ agent }: Pick<SessionRow, "agent">): AgentSkill[] {
  const wanted = new Map<string, AgentSkill>();
  for (const { skills } of [agent, ...rosterOf(agent)]) {
    for (const skill of skills) {
      if (skill.type === "custom") wanted.set(`${skill.skill_id}/${skill.version}`, skill);
    }
  }
  return [...wanted.values()];
}

async function unpackInto(folder: string, version: StoredVersion, archive: Uint8Array): Promise<void> {
  for (const { path, content } of await unpackBundle(archive)) {
    if (path.split("/").some((segment) => LOADED_BY_ITSELF.has(segment.toLowerCase()))) continue;
    const isSkill = posix.basename(path).toLowerCase() === SKILL_FILE.toLowerCase();
    const bytes = isSkill ? withPlainHead(content, path === SKILL_FILE ? version : undefined) : content;
    await writeReadOnly(join(folder, path), bytes);
  }
}

/**
 * Keeps only name and description. In the front matter of a skill, Claude Code also accepts hooks, tools to allow and a
 * model: an upload must not run programs or widen permissions that way.
 */
function withPlainHead(content: Buffer, version: Pick<StoredVersion, "name" | "description"> | undefined): Buffer {
  const { body } = splitFrontMatter(content.toString("utf8"));
  if (!version) return Buffer.from(body);
  // JSON strings are YAML strings.
  const head = `name: ${JSON.stringify(version.name)}\ndescription: ${JSON.stringify(version.description)}\n`;
  return Buffer.from(`---\n${head}---\n${body}`);
}

async function writeReadOnly(path: string, content: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, content, { mode: modeOf(content) & 0o555, flag: "wx" });
}

async function removeLeft(copies: string, before: number): Promise<void> {
  for (const name of await readdir(copies)) {
    const path = join(copies, name);
    const used = await stat(path).catch(() => undefined);
    if (used && used.mtimeMs < before) await remove(path);
  }
}

/** Read-only folders cannot be emptied. */
async function remove(path: string): Promise<void> {
  await eachFolder(path, 0o700).catch(() => undefined);
  await rm(path, { recursive: true, force: true });
}

async function eachFolder(path: string, mode: number): Promise<void> {
  await chmod(path, mode);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await eachFolder(join(path, entry.name), mode);
  }
}

const missing = (skill: string, version: string): SessionEventBody => ({
  type: "tandem.notice",
  level: "warning",
  text: `The skill ${skill} (version ${version}) was deleted. The session continues without it.`,
});

const shadowed = ({ name, skill_id: skill }: StoredVersion): SessionEventBody => ({
  type: "tandem.notice",
  level: "warning",
  text: `The skill ${skill} was not loaded: another agent of the session has a skill named "${name}".`,
});
