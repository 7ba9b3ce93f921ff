import { TandemError } from "@tandem/protocol";
import { existsSync } from "node:fs";
import { withClaudePath } from "./find-claude-code.ts";
import { findProject, projectAt } from "../config/find-project.ts";
import { defaultProject, loadProject, type Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";

/** Opens the project, else this folder with default settings, which is enough for sessions. */
export async function openProjectOrDefaults(host: Host): Promise<Project> {
  const place = findProject(host.cwd, host.project);
  const hasFile = place && (host.project === undefined || existsSync(place.file));
  if (hasFile) return withClaudePath(await loadProject(host.env, place), host);
  const here = place ?? projectAt(host.cwd, host.cwd);
  return withClaudePath(await defaultProject(host.env, here), host);
}

/** Opens the project for single calls. */
export async function openCallProject(host: Host): Promise<Project> {
  return callProject(await openProjectOrDefaults(host));
}

/** Without a tandem.yaml, single calls run on the Claude Code login, as sessions do. */
export function callProject(project: Project): Project {
  if (existsSync(project.file)) return project;
  const { llm } = project.config;
  const onClaudeCode = { ...llm, provider: { ...llm.provider, backend: "claude-code" as const } };
  return { ...project, config: { ...project.config, llm: onClaudeCode } };
}

export async function openProject(host: Host): Promise<Project> {
  const place = findProject(host.cwd, host.project);
  if (!place) {
    throw new TandemError("config_missing", "There is no tandem.yaml in this folder or a parent folder.", {
      fix: "Run `tandem setup` here, or name a project with --project.",
    });
  }
  return withClaudePath(await loadProject(host.env, place), host);
}
