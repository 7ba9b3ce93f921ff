import type { PageQuery } from "@tandem/storage";
import type { ServerConnection } from "./server-connection.ts";
import type { SessionsClient } from "./sessions-client.ts";

/** The vaults of the running server. */
export function vaultsOf({ api }: ServerConnection): SessionsClient["vaults"] {
  const at = (vault_id: string) => ({ params: { vault_id } });
  const inside = (vault_id: string, credential_id: string) => ({ params: { vault_id, credential_id } });
  return {
    create: (body) => api.call("vaults.create", { body }),
    get: (id) => api.call("vaults.retrieve", at(id)),
    update: (id, body) => api.call("vaults.update", { ...at(id), body }),
    archive: (id) => api.call("vaults.archive", at(id)),
    delete: async (id) => void (await api.call("vaults.delete", at(id))),
    list: async (query) => toPage(await api.call("vaults.list", { query: queryOf(query) })),
    credentials: {
      create: (id, body) => api.call("vaults.credentials.create", { ...at(id), body }),
      get: (id, credential) => api.call("vaults.credentials.retrieve", inside(id, credential)),
      update: (id, credential, body) => api.call("vaults.credentials.update", { ...inside(id, credential), body }),
      archive: (id, credential) => api.call("vaults.credentials.archive", inside(id, credential)),
      delete: async (id, credential) => void (await api.call("vaults.credentials.delete", inside(id, credential))),
      list: async (id, query) =>
        toPage(await api.call("vaults.credentials.list", { ...at(id), query: queryOf(query) })),
      validate: (id, credential) => api.call("vaults.credentials.mcpOAuthValidate", inside(id, credential)),
    },
  };
}

export const vaultLoginsOf = ({ api }: ServerConnection): SessionsClient["vaultLogins"] => ({
  start: (body) => api.call("vaults.logins.create", { body }),
  finish: (body) => api.call("vaults.logins.finish", { body }),
});

const queryOf = ({ limit, cursor, includeArchived }: PageQuery) => ({
  limit,
  page: cursor,
  include_archived: includeArchived ? ("true" as const) : ("false" as const),
});

const toPage = <T>({ data, next_page: next }: { data: T[]; next_page: string | null }) => ({
  data,
  next,
  previous: null,
});
