import { ENVIRONMENT_METADATA } from "@tandem/protocol";
import type { SessionRow, Store } from "@tandem/storage";
import { AllowedRoots, isInside } from "@tandem/workspace";
import type { Project } from "../config/load-project.ts";

/**
 * Whether a session is of this project: the store is that of all projects of a user, and what was said in one is nothing for
 * the context and the model of another. One in a scratch folder is of none, unless the project has a store of its own.
 */
export async function ownSession(
  { config }: Pick<Project, "config">,
  roots: readonly string[],
  { environments }: Pick<Store, "environments">,
): Promise<(session: Pick<SessionRow, "environmentId" | "folder">) => Promise<boolean>> {
  const { folders } = await AllowedRoots.open(roots);
  return async ({ environmentId, folder }) => {
    const environment = await environments.get(environmentId);
    const place = environment === undefined ? folder : environment.metadata[ENVIRONMENT_METADATA.path];
    if (place === undefined) return config.storage.url !== undefined;
    return folders.some((root) => isInside(root, place));
  };
}
