import type { PageOf, TwoWayPageOf, WebhookEndpointView } from "@tandem/protocol";
import type { Page, PageQuery } from "@tandem/storage";
import type { ServerConnection } from "./server-connection.ts";
import type { SessionsClient } from "./sessions-client.ts";

/** Preparing a worktree takes as long as the config allows; the server ends it. */
export const SETUP_MS = 24 * 60 * 60 * 1_000;

type Resources = Pick<
  SessionsClient,
  | "agents"
  | "environments"
  | "work"
  | "environmentKeys"
  | "deployments"
  | "triggers"
  | "vaults"
  | "vaultLogins"
  | "skills"
  | "webhooks"
>;

/** The resources of the running server that sessions are made from, and its webhook endpoints. */
export function resourcesOf({ api }: ServerConnection): Resources {
  const agent = (agent_id: string) => ({ params: { agent_id } });
  const environment = (environment_id: string) => ({ params: { environment_id } });
  const deployment = (deployment_id: string) => ({ params: { deployment_id } });
  const trigger = (deployment_id: string, trigger_id: string) => ({ params: { deployment_id, trigger_id } });
  const vault = (vault_id: string) => ({ params: { vault_id } });
  const credential = (vault_id: string, credential_id: string) => ({ params: { vault_id, credential_id } });
  const skill = (skill_id: string) => ({ params: { skill_id } });
  const version = (skill_id: string, number: string) => ({ params: { skill_id, version: number } });
  const endpoint = (webhook_endpoint_id: string) => ({ params: { webhook_endpoint_id } });
  return {
    agents: {
      create: (body) => api.call("agents.create", { body }),
      get: (id, version) => api.call("agents.retrieve", { ...agent(id), query: { version } }),
      update: (id, body) => api.call("agents.update", { ...agent(id), body }),
      archive: (id) => api.call("agents.archive", agent(id)),
      list: async (query) => toPage(await api.call("agents.list", { query: pageQuery(query) })),
    },
    environments: {
      create: (body) => api.call("environments.create", { body }),
      list: async (query) => toPage(await api.call("environments.list", { query: pageQuery(query) })),
    },
    work: { stats: (id) => api.call("environments.work.stats", environment(id)) },
    environmentKeys: {
      list: async (id) => (await api.call("environments.keys.list", environment(id))).data,
      create: (id, body) => api.call("environments.keys.create", { ...environment(id), body }),
      revoke: async (environment_id, key_id) =>
        void (await api.call("environments.keys.delete", { params: { environment_id, key_id } })),
    },
    deployments: {
      create: (body) => api.call("deployments.create", { body }),
      get: (id) => api.call("deployments.retrieve", deployment(id)),
      update: (id, body) => api.call("deployments.update", { ...deployment(id), body }),
      archive: (id) => api.call("deployments.archive", deployment(id)),
      pause: (id) => api.call("deployments.pause", deployment(id)),
      unpause: (id) => api.call("deployments.unpause", deployment(id)),
      run: (id) => api.call("deployments.run", { ...deployment(id), signal: AbortSignal.timeout(SETUP_MS) }),
      list: async (query) => toPage(await api.call("deployments.list", { query: pageQuery(query) })),
      runs: {
        get: (id) => api.call("deploymentRuns.retrieve", { params: { deployment_run_id: id } }),
        list: async ({ limit, cursor: page, deploymentId: deployment_id }) =>
          toPage(await api.call("deploymentRuns.list", { query: { limit, page, deployment_id } })),
      },
    },
    triggers: {
      list: async (id) => (await api.call("deployments.triggers.list", deployment(id))).data,
      create: (id, body) => api.call("deployments.triggers.create", { ...deployment(id), body }),
      get: (id, one) => api.call("deployments.triggers.retrieve", trigger(id, one)),
      update: (id, one, body) => api.call("deployments.triggers.update", { ...trigger(id, one), body }),
      delete: async (id, one) => void (await api.call("deployments.triggers.delete", trigger(id, one))),
      rotate: (id, one, secret) => api.call("deployments.triggers.rotate", { ...trigger(id, one), body: { secret } }),
      deliveries: async (id, one, limit) =>
        (await api.call("deployments.triggers.deliveries", { ...trigger(id, one), query: { limit } })).data,
    },
    vaults: {
      create: (body) => api.call("vaults.create", { body }),
      get: (id) => api.call("vaults.retrieve", vault(id)),
      update: (id, body) => api.call("vaults.update", { ...vault(id), body }),
      archive: (id) => api.call("vaults.archive", vault(id)),
      delete: async (id) => void (await api.call("vaults.delete", vault(id))),
      list: async (query) => toPage(await api.call("vaults.list", { query: pageQuery(query) })),
      credentials: {
        create: (id, body) => api.call("vaults.credentials.create", { ...vault(id), body }),
        get: (id, one) => api.call("vaults.credentials.retrieve", credential(id, one)),
        update: (id, one, body) => api.call("vaults.credentials.update", { ...credential(id, one), body }),
        archive: (id, one) => api.call("vaults.credentials.archive", credential(id, one)),
        delete: async (id, one) => void (await api.call("vaults.credentials.delete", credential(id, one))),
        list: async (id, query) =>
          toPage(await api.call("vaults.credentials.list", { ...vault(id), query: pageQuery(query) })),
        validate: (id, one) => api.call("vaults.credentials.mcpOAuthValidate", credential(id, one)),
      },
    },
    vaultLogins: {
      start: (body) => api.call("vaults.logins.create", { body }),
      finish: (body) => api.call("vaults.logins.finish", { body }),
    },
    skills: {
      create: ({ files, displayName }) =>
        api.upload("skills.create", {
          files: files.map(asFile),
          form: displayName === undefined ? {} : { display_name: displayName },
        }),
      get: (id) => api.call("skills.retrieve", skill(id)),
      list: async ({ limit, cursor: page, source }) =>
        toPage(await api.call("skills.list", { query: { limit, page, source } })),
      delete: async (id) => void (await api.call("skills.delete", skill(id))),
      use: (id) => api.call("skills.use", skill(id)),
      createVersion: (id, { files }) =>
        api.upload("skills.versions.create", { ...skill(id), files: files.map(asFile) }),
      version: (id, number) => api.call("skills.versions.retrieve", version(id, number)),
      versions: async (id, { limit, cursor: page }) =>
        toPage(await api.call("skills.versions.list", { ...skill(id), query: { limit, page } })),
      deleteVersion: async (id, number) => void (await api.call("skills.versions.delete", version(id, number))),
      async content(id, number) {
        const { name } = await api.call("skills.versions.retrieve", version(id, number));
        const response = await api.download("skills.versions.download", version(id, number));
        const content = new Uint8Array(await response.bytes());
        return { filename: `${name}.zip`, size: content.byteLength, read: async () => content };
      },
    },
    webhooks: {
      list: async () =>
        (await api.call("organization.webhooks.list", { query: { limit: 1_000 } })).data.map(endpointOf),
      get: async (id) => endpointOf(await api.call("organization.webhooks.retrieve", endpoint(id))),
      create: async (body) => {
        const { signing_secret: secret, ...made } = await api.call("organization.webhooks.create", { body });
        return { endpoint: endpointOf(made), secret };
      },
      update: async (id, body) => endpointOf(await api.call("organization.webhooks.update", { ...endpoint(id), body })),
      delete: async (id) => void (await api.call("organization.webhooks.delete", endpoint(id))),
      rotate: async (id) =>
        (await api.call("organization.webhooks.regenerateSigningSecret", endpoint(id))).signing_secret,
      test: (id) => api.call("organization.webhooks.test", endpoint(id)),
      deliveries: async (id, { limit, after: page }) =>
        (await api.call("organization.webhooks.deliveries.list", { ...endpoint(id), query: { limit, page } })).data,
      resend: (webhook_endpoint_id, delivery_id) =>
        api.call("organization.webhooks.deliveries.resend", { params: { webhook_endpoint_id, delivery_id } }),
    },
  };
}

const asFile = ({ filename, content }: { filename: string; content: Uint8Array }): File =>
  new File([new Uint8Array(content)], filename);

const endpointOf = ({ tandem, ...endpoint }: WebhookEndpointView) => ({ ...endpoint, ...tandem });

export const pageQuery = ({ limit, cursor, includeArchived }: PageQuery) => ({
  limit,
  page: cursor,
  ...(includeArchived !== undefined && { include_archived: includeArchived ? ("true" as const) : ("false" as const) }),
});

export const toPage = <T>({
  data,
  next_page: next,
  prev_page: previous = null,
}: PageOf<T> & Partial<TwoWayPageOf<T>>): Page<T> => ({ data, next, previous });
