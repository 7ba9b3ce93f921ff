import type { Probes, SweepStage } from "../probe.ts";

const vault = async ({ client }: SweepStage) => (await client.beta.vaults.create({ display_name: "sweep" })).id;

const OAUTH = {
  type: "mcp_oauth" as const,
  mcp_server_url: "http://127.0.0.1:9/mcp",
  access_token: "sweep-access-token",
  refresh: {
    client_id: "sweep",
    refresh_token: "sweep-refresh-token",
    token_endpoint: "http://127.0.0.1:9/token",
    token_endpoint_auth: { type: "none" as const },
  },
};

async function credential(stage: SweepStage) {
  const vault_id = await vault(stage);
  return stage.client.beta.vaults.credentials.create(vault_id, { display_name: "sweep", auth: OAUTH });
}

export const vaults: Probes = {
  "beta.vaults.create": (client) => client.beta.vaults.create({ display_name: "sweep", metadata: { team: "a" } }),
  "beta.vaults.retrieve": async (client, stage) => client.beta.vaults.retrieve(await vault(stage)),
  "beta.vaults.update": async (client, stage) =>
    client.beta.vaults.update(await vault(stage), { display_name: "renamed", metadata: { team: null } }),
  "beta.vaults.list": (client) => client.beta.vaults.list({ limit: 2 }),
  "beta.vaults.archive": async (client, stage) => client.beta.vaults.archive(await vault(stage)),
  "beta.vaults.delete": async (client, stage) => client.beta.vaults.delete(await vault(stage)),
  "beta.vaults.credentials.create": {
    run: (_, stage) => credential(stage),
    note: "`tandem.state` says whether the credential works",
  },
  "beta.vaults.credentials.retrieve": async (client, stage) => {
    const { id, vault_id } = await credential(stage);
    return client.beta.vaults.credentials.retrieve(id, { vault_id });
  },
  "beta.vaults.credentials.update": async (client, stage) => {
    const { id, vault_id } = await credential(stage);
    const auth = { type: "mcp_oauth" as const, access_token: "sweep-next-token" };
    return client.beta.vaults.credentials.update(id, { vault_id, auth });
  },
  "beta.vaults.credentials.list": async (client, stage) =>
    client.beta.vaults.credentials.list((await credential(stage)).vault_id, { limit: 2 }),
  "beta.vaults.credentials.archive": async (client, stage) => {
    const { id, vault_id } = await credential(stage);
    return client.beta.vaults.credentials.archive(id, { vault_id });
  },
  "beta.vaults.credentials.delete": async (client, stage) => {
    const { id, vault_id } = await credential(stage);
    return client.beta.vaults.credentials.delete(id, { vault_id });
  },
  "beta.vaults.credentials.mcpOAuthValidate": async (client, stage) => {
    const { id, vault_id } = await credential(stage);
    return client.beta.vaults.credentials.mcpOAuthValidate(id, { vault_id });
  },
};
