import { tabledModels } from "@tandem/protocol";
import { loadProject, projectAt } from "@tandem/tandem/config";
import { keepModels } from "@tandem/tandem/models";

/** Stores a list of models. Otherwise the first agent of each machine starts a Claude Code process to list them. */
export async function seedModels(machine: { project: string; variables: Record<string, string> }): Promise<void> {
  const project = await loadProject(machine.variables, projectAt(machine.project, machine.project));
  await keepModels(machine.variables, project, { at: new Date().toISOString(), models: tabledModels() });
}
