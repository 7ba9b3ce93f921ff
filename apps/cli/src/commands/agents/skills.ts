import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Skill, type SkillUse, RequestError, TandemError } from "@tandem/protocol";
import { listAll } from "@tandem/tandem/engine";
import { localActor } from "@tandem/tandem/project";
import type { Command } from "commander";
import { confirm } from "../../input/confirm.ts";
import { plural, ago } from "../../human-units.ts";
import type { Invocation } from "../../invocation.ts";
import { clientFor } from "../../sessions/open-client.ts";
import type { SessionsClient } from "../../sessions/sessions-client.ts";
import { readSkillFolder } from "../../skills/read-skill-folder.ts";
import { clip, printable, styleFor, table, wrap, writeResult, writeTable } from "../../terminal.ts";
import { subcommandsOf, type Registration } from "../registration.ts";

const WIDTH = 100;

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const ofSkill = (name: string, description: string) =>
    sub(name, description).argument("<skill>", "id or display name of the skill").addOption(json());
  examples(
    sub("list", "List uploaded skills, then those of trusted folders.").addOption(json()).action(runner(list)),
    "tandem skills list",
  );
  examples(
    sub("add", "Upload a folder with a SKILL.md as a new skill or as a new version.")
      .argument("<folder>", "folder of the skill, or a zip archive of it")
      .option("--name <name>", "display name (default: the name in SKILL.md)")
      .option("--to <skill>", "add it to this skill as its newest version")
      .addOption(json())
      .action(runner(add)),
    "tandem skills add ./release-notes",
    "tandem skills add ./release-notes --to release-notes",
  );
  examples(
    ofSkill("show", "Show a skill, its newest version and the agents that have it.").action(runner(show)),
    "tandem skills show release-notes",
  );
  examples(
    ofSkill("versions", "List the versions of a skill, newest first.").action(runner(versions)),
    "tandem skills versions release-notes",
  );
  examples(
    ofSkill("download", "Save a version of a skill as a zip archive.")
      .option("--skill-version <id>", "version (default: the newest)")
      .option("-o, --output <file>", "file to write (default: NAME.zip)")
      .action(runner(download)),
    "tandem skills download release-notes",
  );
  examples(
    ofSkill("remove", "Delete a skill with all its versions, or one version.")
      .option("--skill-version <id>", "delete only this version")
      .option("-y, --yes", "do not ask for confirmation")
      .action(runner(remove)),
    "tandem skills remove release-notes",
  );
}

interface AddOptions {
  name?: string;
  to?: string;
}
interface DownloadOptions {
  skillVersion?: string;
  output?: string;
}
interface RemoveOptions {
  skillVersion?: string;
  yes?: boolean;
}

const open = clientFor("tandem skills");

async function list(invocation: Invocation): Promise<void> {
  await using client = await open(invocation);
  const skills = await Array.fromAsync(listAll((query) => client.skills.list(query)));
  const { bold, dim } = styleFor(invocation.stdout);
  const rows = skills.map((skill) => [
    skill.id,
    bold(printable(skill.display_name)),
    dim(skill.source.type === "plugin" ? "trusted folder" : "uploaded"),
    dim(ago(skill.updated_at)),
  ]);
  await writeTable(invocation, { skills }, rows, "No skills yet. Upload one with `tandem skills add FOLDER`.");
}

async function add(invocation: Invocation, folder: string, { name, to }: AddOptions): Promise<void> {
  const files = await readSkillFolder(invocation.cwd, folder);
  const by = localActor();
  await using client = await open(invocation);
  const { dim } = styleFor(invocation.stdout);
  if (to !== undefined) {
    const { id } = await findSkill(client, to);
    const version = await client.skills.createVersion(id, { files, by });
    return writeResult(invocation, version, [`${version.id} is the newest version of ${printable(version.name)}.`]);
  }
  const skill = await client.skills.create({ files, displayName: name, by });
  return writeResult(invocation, skill, [
    `${skill.id} is added as ${printable(skill.display_name)}.`,
    dim(`Give it to an agent: skills: [{ type: custom, skill_id: ${skill.id} }]`),
  ]);
}

async function show(invocation: Invocation, name: string): Promise<void> {
  await using client = await open(invocation);
  const skill = await findSkill(client, name);
  const [version, use] = await Promise.all([client.skills.version(skill.id, "latest"), client.skills.use(skill.id)]);
  const { bold, dim } = styleFor(invocation.stdout);
  const size = use.versions.find(({ id }) => id === version.id);
  const agents = use.agents.map((agent) => `${printable(agent.name)}  ${dim(`${agent.id}, ${agent.version}`)}`);
  const rows = [
    [dim("skill"), `${skill.id}  ${bold(printable(skill.display_name))}`],
    [dim("name"), printable(version.name)],
    [dim("version"), `${version.id}  ${dim(`${ago(version.created_at)}, ${sizeOf(size)}`)}`],
    [dim("source"), use.folder === null ? "uploaded" : printable(use.folder)],
    ...(agents.length > 0 ? agents : ["none"]).map((line, i) => [i === 0 ? dim("agents") : "", line]),
  ];
  const lines = [...table(rows), "", ...wrap(printable(version.description), WIDTH)];
  await writeResult(invocation, { ...skill, latest_version: version, ...use }, lines);
}

async function versions(invocation: Invocation, name: string): Promise<void> {
  await using client = await open(invocation);
  const { id } = await findSkill(client, name);
  const found = await Array.fromAsync(listAll((query) => client.skills.versions(id, query)));
  const use = await client.skills.use(id);
  const { dim } = styleFor(invocation.stdout);
  const rows = found.map((version) => [
    version.id,
    dim(ago(version.created_at)),
    dim(sizeOf(use.versions.find((each) => each.id === version.id))),
    clip(printable(version.description), 60),
  ]);
  await writeResult(invocation, { versions: found }, table(rows));
}

async function download(
  invocation: Invocation,
  name: string,
  { skillVersion = "latest", output }: DownloadOptions,
): Promise<void> {
  await using client = await open(invocation);
  const { id } = await findSkill(client, name);
  const { filename, read } = await client.skills.content(id, skillVersion);
  const path = resolve(invocation.cwd, output ?? filename);
  const bytes = await read();
  // Never over a file that the user did not name.
  await writeFile(path, bytes, { flag: output === undefined ? "wx" : "w" });
  await writeResult(invocation, { file: path, size_bytes: bytes.byteLength }, [`Saved as ${path}.`]);
}

async function remove(
  invocation: Invocation,
  name: string,
  { skillVersion, yes = false }: RemoveOptions,
): Promise<void> {
  await using client = await open(invocation);
  const skill = await findSkill(client, name);
  const { agents, versions: all } = await client.skills.use(skill.id);
  const what = skillVersion ?? `${skill.id} (${printable(skill.display_name)}) with ${plural(all.length, "version")}`;
  const users = agents.map((agent) => printable(agent.name)).join(", ");
  const effect = agents.length === 0 ? "No agent has it." : `These agents have it: ${users}.`;
  if (!yes) await confirm(invocation, `This deletes ${what}. ${effect}\n`, "Delete permanently?");
  if (skillVersion === undefined) await client.skills.delete(skill.id, localActor());
  else await client.skills.deleteVersion(skill.id, skillVersion, localActor());
  const deleted = skillVersion ?? skill.id;
  await writeResult(invocation, { deleted }, [`${deleted} is deleted.`]);
}

const sizeOf = (version: SkillUse["versions"][number] | undefined): string =>
  version ? `${plural(version.files, "file")}, ${Math.ceil(version.size_bytes / 1_000)} kB` : "";

/** The skill with this id or display name. */
async function findSkill({ skills }: SessionsClient, idOrName: string): Promise<Skill> {
  if (/^skill_[0-9A-Za-z]+$/.test(idOrName)) return skills.get(idOrName);
  const all = await Array.fromAsync(listAll((query) => skills.list(query)));
  const found = all.filter(({ display_name: name }) => name === idOrName);
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
