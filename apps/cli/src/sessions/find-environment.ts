import { ENVIRONMENT_METADATA } from "@tandem/protocol";
import { every } from "./every.ts";
import type { SessionsClient } from "./sessions-client.ts";

/** An environment whose sessions work in that folder as it is: the built-in one, one that is there, or a new one. */
export async function findEnvironment(client: SessionsClient, folder: string): Promise<string> {
  const { path, isolation } = ENVIRONMENT_METADATA;
  for await (const { id, metadata } of every((query) => client.environments.list(query))) {
    if (metadata[path] === folder && metadata[isolation] === undefined) return id;
  }
  const created = await client.environments.create({
    name: folder.slice(-256),
    description: "Made by `tandem run`.",
    metadata: { [path]: folder },
  });
  return created.id;
}
