import { existsSync } from "node:fs";
import type { Host } from "./host.ts";
import { checkEdited } from "./check-edited.ts";
import { type Edit, editConfig } from "./edit-config.ts";
import { findProject, projectAt } from "./find-project.ts";
import { defaultProject, loadProject, type Project, readConfigFile } from "./load-project.ts";
import type { ParsedConfig } from "./parse/parse-config.ts";
import { trustFolder, untrustedSettings } from "./trust.ts";
import { writeFileAtomically } from "./write-file-atomically.ts";

/** Opens the project. Without a tandem.yaml, uses this folder. */
export async function openProjectToEdit(host: Host): Promise<Project> {
  const place = findProject(host.cwd, host.project) ?? projectAt(host.cwd, host.cwd);
  return existsSync(place.file) ? loadProject(host.env, place) : defaultProject(host.env, place);
}

/** Applies edits to the project's tandem.yaml without writing it. Throws if the result would be invalid. */
export async function previewEdits(
  project: Project,
  edits: readonly Edit[],
): Promise<{ text: string; after: ParsedConfig }> {
  const source = existsSync(project.file) ? await readConfigFile(project) : "";
  const text = editConfig(source, edits);
  return { text, after: checkEdited(text, project.displayPath) };
}

/** Edits the project's tandem.yaml, or creates it. Writes nothing if the result would be invalid. */
export async function writeEdits(host: Host, project: Project, edits: readonly Edit[]): Promise<ParsedConfig> {
  const { text, after } = await previewEdits(project, edits);
  const untrusted = await untrustedSettings(host.env, project.folder, project.settings);
  await writeFileAtomically(project.file, text);
  // A user's own edit of a trusted folder is trusted. An untrusted folder stays untrusted.
  if (untrusted.length === 0) await trustFolder(host.env, project.folder, after.settings);
  return after;
}
