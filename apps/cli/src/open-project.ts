import { TandemError } from "@tandem/protocol";
import { findProject } from "./config/find-project.ts";
import { loadProject, type Project } from "./config/load-project.ts";
import type { Context } from "./context.ts";

/** The project that a command works on. */
export async function openProject({ cwd, project }: Context): Promise<Project> {
  const place = findProject(cwd, project);
  if (!place) {
    throw new TandemError("config_missing", "There is no tandem.yaml in this folder or above it.", {
      fix: "Run `tandem setup` here, or name a project with --project.",
    });
  }
  return loadProject(place);
}
