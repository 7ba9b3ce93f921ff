import { ENVIRONMENT_METADATA } from "@tandem/protocol";
import { listAll } from "@tandem/storage/read-all";
import type { Engine } from "@tandem/sessions";

/** Finds or creates an environment whose sessions work in that folder, or each in a worktree of it. */
export async function findEnvironment(
  client: { environments: Pick<Engine["environments"], "create" | "list"> },
  folder: string,
  ownWorktree = false,
): Promise<string> {
  const { path, isolation, branch } = ENVIRONMENT_METADATA;
  const wanted = ownWorktree ? "worktree" : undefined;
  for await (const { id, metadata } of listAll((query) => client.environments.list(query))) {
    if (metadata[path] === folder && metadata[isolation] === wanted && metadata[branch] === undefined) return id;
  }
  const created = await client.environments.create({
    name: `${folder}${ownWorktree ? " (worktrees)" : ""}`.slice(-256),
    description: "Created by `tandem run`.",
    metadata: { [path]: folder, ...(wanted && { [isolation]: wanted }) },
  });
  return created.id;
}
