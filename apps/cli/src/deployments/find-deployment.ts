import { isId, RequestError, TandemError, type Deployment } from "@tandem/protocol";
import { listAll } from "@tandem/tandem/engine";
import type { SessionsClient } from "../sessions/sessions-client.ts";

/** All of them, newest first. */
export const readDeployments = (client: SessionsClient, includeArchived: boolean): Promise<Deployment[]> =>
  Array.fromAsync(listAll((query) => client.deployments.list(query), { includeArchived }));

/** By id, or by its name if that is unique. */
export async function findDeployment(client: SessionsClient, idOrName: string): Promise<Deployment> {
  if (isId("deployment", idOrName)) return client.deployments.get(idOrName);
  const [found, ...others] = (await readDeployments(client, false)).filter(({ name }) => name === idOrName);
  if (!found) {
    throw new RequestError("not_found", `There is no deployment ${idOrName}.`, {
      fix: "List them with `tandem deployments list --all`.",
    });
  }
  if (others.length === 0) return found;
  const ids = [found, ...others].map(({ id }) => id).join(", ");
  throw new TandemError("usage", `Several deployments have the name ${idOrName}.`, {
    fix: `Name one by its id: ${ids}.`,
  });
}
