import { isId, RequestError, TandemError, type Vault, type VaultCredential } from "@tandem/protocol";
import { listAll } from "@tandem/tandem/engine";
import type { SessionsClient } from "../sessions/sessions-client.ts";

/** All of them, newest first. */
export const readVaults = ({ vaults }: SessionsClient, includeArchived: boolean): Promise<Vault[]> =>
  Array.fromAsync(listAll((query) => vaults.list(query), { includeArchived }));

export const readCredentials = (
  { vaults }: SessionsClient,
  vault: string,
  includeArchived: boolean,
): Promise<VaultCredential[]> =>
  Array.fromAsync(listAll((query) => vaults.credentials.list(vault, query), { includeArchived }));

/** By id, or by its name if that is unique. */
export async function findVault(client: SessionsClient, idOrName: string): Promise<Vault> {
  if (isId("vault", idOrName)) return client.vaults.get(idOrName);
  const found = (await readVaults(client, false)).filter(({ display_name: name }) => name === idOrName);
  return only(found, `vault ${idOrName}`, "List them with `tandem vaults list --all`.");
}

/** For `--vault`: the ids of vaults that are named by id or name, in the same order. */
export const vaultIdsOf = (client: SessionsClient, named: readonly string[]): Promise<string[]> =>
  Promise.all(named.map(async (each) => (await findVault(client, each)).id));

/** By id, by name, or by its server or variable. */
export async function findCredential(client: SessionsClient, vault: string, text: string): Promise<VaultCredential> {
  if (isId("vaultCredential", text)) return client.vaults.credentials.get(vault, text);
  const found = (await readCredentials(client, vault, false)).filter(
    (each) => each.display_name === text || subjectOf(each) === text,
  );
  return only(found, `credential ${text} in the vault`, `List them with \`tandem vaults show ${vault}\`.`);
}

/** The server or variable that a credential is for. */
export const subjectOf = ({ auth }: VaultCredential): string =>
  auth.type === "environment_variable" ? auth.secret_name : auth.mcp_server_url;

function only<T extends { id: string }>(found: readonly T[], what: string, fix: string): T {
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw new RequestError("not_found", `There is no ${what}.`, { fix });
  const ids = found.map(({ id }) => id).join(", ");
  throw new TandemError("usage", `There is more than one ${what}.`, { fix: `Name one by its id: ${ids}.` });
}
