import { ENVIRONMENT_METADATA } from "@tandem/protocol";
import type { SessionRow, Store } from "@tandem/storage";
import { AllowedRoots, isInside } from "@tandem/workspace";
import type { Project } from "../config/load-project.ts";

/**
 * True if the session belongs to this project. All projects of a user share one store, and a session's content must not reach
 * the context or model of another project. A session in a scratch folder belongs to none, unless the project has its own store.
 */
export async function isProjectSession(
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
