import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { BadRequestError, ConflictError, NotFoundError, type default as Anthropic } from "@anthropic-ai/sdk";
import { afterAll, expect, test } from "vitest";
import { setJudgeStage } from "../testing/judge-stage.ts";

const stage = await setJudgeStage();
afterAll(() => stage[Symbol.asyncDispose]());

const vaults = () => stage.client.beta.vaults;
const newVault = async (name = "team") => (await vaults().create({ display_name: name })).id;

type Auth = Anthropic.Beta.Vaults.CredentialCreateParams["auth"];
/** Found in no file, log or answer. */
const SECRET = "s3cr3t-only-for-the-judge";
const bearer = (url: string): Auth => ({ type: "static_bearer", mcp_server_url: url, token: `${SECRET}-token` });
const oauth = (url: string): Auth => ({
  type: "mcp_oauth",
  mcp_server_url: url,
  access_token: `${SECRET}-access`,
  expires_at: "2100-01-01T00:00:00Z",
  refresh: {
    client_id: "tandem",
    refresh_token: `${SECRET}-refresh`,
    token_endpoint: "https://login.example.com/token",
    token_endpoint_auth: { type: "client_secret_basic", client_secret: `${SECRET}-client` },
    scope: "read",
  },
});
const variable = (name: string, more: object = {}): Auth => ({
  type: "environment_variable",
  secret_name: name,
  secret_value: `${SECRET}-value`,
  networking: { type: "limited", allowed_hosts: ["api.example.com", "*.example.org", "192.0.2.1"] },
  ...more,
});

async function idsOf(list: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of list) ids.push(id);
  return ids;
}

test("a vault is created, renamed, listed, archived and deleted", async () => {
  const made = await vaults().create({ display_name: "one", metadata: { a: "1", b: "2" } });
  expect(made).toEqual({
    type: "vault",
    id: expect.stringMatching(/^vlt_/) as string,
    display_name: "one",
    metadata: { a: "1", b: "2" },
    created_at: expect.any(String) as string,
    updated_at: expect.any(String) as string,
    archived_at: null,
  });
  const renamed = await vaults().update(made.id, { display_name: "two", metadata: { a: null, c: "3" } });
  expect(renamed).toMatchObject({ display_name: "two", metadata: { b: "2", c: "3" } });
  expect(await vaults().retrieve(made.id)).toEqual(renamed);
  const others = [await newVault("three"), await newVault("four")];
  expect((await idsOf(vaults().list({ limit: 1 }))).slice(0, 3)).toEqual([...others.toReversed(), made.id]);
  const archived = await vaults().archive(made.id);
  expect(archived.archived_at).not.toBeNull();
  expect(await vaults().archive(made.id)).toEqual(archived);
  expect(await idsOf(vaults().list())).not.toContain(made.id);
  expect(await idsOf(vaults().list({ include_archived: true }))).toContain(made.id);
  await expect(vaults().update(made.id, { display_name: "x" })).rejects.toThrow(/archived/);
  await expect(vaults().credentials.create(made.id, { auth: variable("A") })).rejects.toThrow(/archived/);
  expect(await vaults().delete(made.id)).toEqual({ type: "vault_deleted", id: made.id });
  await expect(vaults().retrieve(made.id)).rejects.toThrow(NotFoundError);
  await expect(vaults().create({ display_name: "" })).rejects.toThrow(BadRequestError);
});

test("answers show a credential without its secrets", async () => {
  const vault_id = await newVault();
  const made = await vaults().credentials.create(vault_id, {
    auth: oauth("https://mcp.example.com/mcp"),
    display_name: "Example",
    metadata: { team: "a" },
  });
  expect(made).toMatchObject({
    type: "vault_credential",
    id: expect.stringMatching(/^vcrd_/) as string,
    vault_id,
    display_name: "Example",
    metadata: { team: "a" },
    archived_at: null,
    auth: {
      type: "mcp_oauth",
      mcp_server_url: "https://mcp.example.com/mcp",
      expires_at: "2100-01-01T00:00:00.000Z",
      refresh: {
        client_id: "tandem",
        token_endpoint: "https://login.example.com/token",
        token_endpoint_auth: { type: "client_secret_basic" },
        scope: "read",
        resource: null,
      },
    },
  });
  const other = await vaults().credentials.create(vault_id, { auth: variable("API_KEY") });
  expect(other.auth).toEqual({
    type: "environment_variable",
    secret_name: "API_KEY",
    networking: { type: "limited", allowed_hosts: ["api.example.com", "*.example.org", "192.0.2.1"] },
    injection_location: { header: true, body: true },
  });
  const third = await vaults().credentials.create(vault_id, { auth: bearer("https://mcp.example.org") });
  expect(third.auth).toEqual({ type: "static_bearer", mcp_server_url: "https://mcp.example.org" });
  const all = await vaults().credentials.list(vault_id, { limit: 2 });
  expect(all.data.map(({ id }) => id)).toEqual([third.id, other.id]);
  expect(await idsOf(vaults().credentials.list(vault_id, { limit: 2 }))).toEqual([third.id, other.id, made.id]);
  expect(await vaults().credentials.retrieve(made.id, { vault_id })).toEqual(made);
  await expect(vaults().credentials.retrieve(made.id, { vault_id: await newVault() })).rejects.toThrow(NotFoundError);
  expect(JSON.stringify([made, other, third, all.data])).not.toContain(SECRET);
});

test("an update replaces secrets and keeps what identifies the credential", async () => {
  const vault_id = await newVault();
  const made = await vaults().credentials.create(vault_id, { auth: oauth("https://mcp.example.com/mcp") });
  const update = (auth: object) => vaults().credentials.update(made.id, { vault_id, auth: auth as never });
  const next = await update({ type: "mcp_oauth", access_token: `${SECRET}-2`, refresh: { scope: "" } });
  expect(next.auth).toMatchObject({ expires_at: "2100-01-01T00:00:00.000Z", refresh: { scope: null } });
  const client = { type: "client_secret_post", client_secret: `${SECRET}-3` };
  const kept = await update({ type: "mcp_oauth", refresh: { token_endpoint_auth: client } });
  expect(kept.auth).toMatchObject({ refresh: { token_endpoint_auth: { type: "client_secret_basic" } } });
  for (const wrong of [
    { type: "static_bearer", token: SECRET },
    { type: "mcp_oauth", mcp_server_url: "https://other.example.com" },
    { type: "mcp_oauth", refresh: { client_id: "other" } },
    { type: "mcp_oauth", refresh: { token_endpoint: "https://other.example.com" } },
    { type: "mcp_oauth", expires_at: "2020-01-01T00:00:00Z" },
    { type: "mcp_oauth", access_token: `${SECRET}\nX-Other: 1` },
  ]) {
    const error = await update(wrong).catch((caught: unknown) => caught);
    expect(error, JSON.stringify(wrong)).toBeInstanceOf(BadRequestError);
    expect(String(error)).not.toContain(SECRET);
  }
  const plain = { type: "mcp_oauth" as const, mcp_server_url: "https://b.example.com", access_token: SECRET };
  const bare = await vaults().credentials.create(vault_id, { auth: plain });
  const refresh = { refresh_token: SECRET };
  await expect(
    vaults().credentials.update(bare.id, { vault_id, auth: { type: "mcp_oauth", refresh } }),
  ).rejects.toThrow(/cannot be added later/);
});

test("a variable is put into headers, bodies or both, at hosts without port or path", async () => {
  const vault_id = await newVault();
  const create = (name: string, more: object) => vaults().credentials.create(vault_id, { auth: variable(name, more) });
  const made = await create("A", { injection_location: { header: true } });
  expect(made.auth).toMatchObject({ injection_location: { header: true, body: false } });
  const update = (injection_location: object) =>
    vaults().credentials.update(made.id, { vault_id, auth: { type: "environment_variable", injection_location } });
  expect((await update({ body: true })).auth).toMatchObject({ injection_location: { header: true, body: true } });
  await update({ header: false });
  await expect(update({ body: false })).rejects.toThrow(BadRequestError);
  for (const more of [
    { injection_location: {} },
    { injection_location: null },
    ...["https://x.example.com", "x.example.com:443", "x.example.com/a", "::1", "*"].map((host) => ({
      networking: { type: "limited", allowed_hosts: [host] },
    })),
    {
      networking: { type: "limited", allowed_hosts: Array.from({ length: 17 }, (_, index) => `h${index}.example.com`) },
    },
  ]) {
    await expect(create("B", more), JSON.stringify(more)).rejects.toThrow(BadRequestError);
  }
  await expect(create("not a name", {})).rejects.toThrow(BadRequestError);
});

test("a server or variable has one active credential, and a vault at most 20", async () => {
  const vault_id = await newVault();
  const create = (auth: Auth) => vaults().credentials.create(vault_id, { auth });
  const first = await create(bearer("https://MCP.example.com:443/mcp/"));
  await expect(create(oauth("https://mcp.example.com/mcp"))).rejects.toThrow(ConflictError);
  await create(bearer("https://mcp.example.com/other"));
  await create(variable("TOKEN"));
  await expect(create(variable("TOKEN"))).rejects.toThrow(ConflictError);
  const archived = await vaults().credentials.archive(first.id, { vault_id });
  expect(archived).toMatchObject({ archived_at: expect.any(String) as string, auth: first.auth });
  const second = await create(oauth("https://mcp.example.com/mcp"));
  // The archived one has left the key: deleting it must not free the key of the second.
  await vaults().credentials.delete(first.id, { vault_id });
  await expect(create(bearer("https://mcp.example.com/mcp"))).rejects.toThrow(ConflictError);
  await vaults().credentials.delete(second.id, { vault_id });
  await expect(vaults().credentials.retrieve(second.id, { vault_id })).rejects.toThrow(NotFoundError);
  const tries = await Promise.allSettled(Array.from({ length: 22 }, (_, index) => create(variable(`V${index}`))));
  expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(18);
  expect(await idsOf(vaults().credentials.list(vault_id))).toHaveLength(20);
});

test("a retried creation makes one vault and one credential", async () => {
  const options = { headers: { "Idempotency-Key": "vault-once" } };
  const [first, second] = [
    await vaults().create({ display_name: "once" }, options),
    await vaults().create({ display_name: "once" }, options),
  ];
  expect(second).toEqual(first);
  const again = { headers: { "Idempotency-Key": "credential-once" } };
  const create = () => vaults().credentials.create(first.id, { auth: variable("ONCE") }, again);
  expect(await create()).toEqual(await create());
});

test("sessions and deployments name vaults that exist and are not archived", async () => {
  const [used, gone, agents] = [await newVault(), await newVault(), await newVault()];
  const agent = await stage.agent({ metadata: { "tandem.vaults": agents } });
  const create = (vault_ids: string[]) =>
    stage.client.beta.sessions.create({ agent, environment_id: "env_local", vault_ids });
  const session = await create([used]);
  expect(session.vault_ids).toEqual([used, agents]);
  expect((await stage.client.beta.sessions.retrieve(session.id)).vault_ids).toEqual([used, agents]);
  const fork = await stage.client.post<{ vault_ids: string[] }>(`/v1/sessions/${session.id}/fork`, { body: {} });
  expect(fork.vault_ids).toEqual([used, agents]);
  await expect(stage.client.beta.sessions.update(session.id, { vault_ids: [used] })).rejects.toThrow(BadRequestError);
  const deployment = await stage.client.beta.deployments.create({
    name: "with vaults",
    agent,
    environment_id: "env_local",
    initial_events: [{ type: "user.message", content: [{ type: "text", text: "Hello" }] }],
    vault_ids: [gone],
  });
  expect(deployment.vault_ids).toEqual([gone]);
  await vaults().archive(gone);
  await expect(create([gone])).rejects.toThrow(/archived/);
  expect((await stage.client.beta.deployments.run(deployment.id)).error).toMatchObject({
    type: "vault_archived_error",
  });
  await vaults().delete(gone);
  await expect(create([gone])).rejects.toThrow(NotFoundError);
  expect((await stage.client.beta.deployments.run(deployment.id)).error).toMatchObject({
    type: "vault_not_found_error",
  });
});

test("webhooks announce changes of vaults and credentials", async () => {
  const { webhooks } = stage.client.beta.organization;
  const types = ["vault", "vault_credential"].flatMap((kind) =>
    ["created", "archived", "deleted"].map((change) => `${kind}.${change}`),
  );
  const endpoint = await webhooks.create({ url: "http://127.0.0.1:9/", enabled_events: types as never });
  const vault_id = await newVault();
  const kept = await vaults().credentials.create(vault_id, { auth: variable("A") });
  const gone = await vaults().credentials.create(vault_id, { auth: variable("B") });
  await vaults().credentials.delete(gone.id, { vault_id });
  await vaults().archive(vault_id);
  await vaults().delete(vault_id);
  const path = `/v1/organizations/webhooks/${endpoint.id}/deliveries?limit=100`;
  const listed = async () => {
    const { data } = await stage.client.get<{ data: { type: string; resource_id: string }[] }>(path);
    return data.map(({ type, resource_id: id }) => `${type} ${id}`).toSorted();
  };
  await expect
    .poll(listed)
    .toEqual(
      [
        `vault.created ${vault_id}`,
        `vault_credential.created ${kept.id}`,
        `vault_credential.created ${gone.id}`,
        `vault_credential.deleted ${gone.id}`,
        `vault.archived ${vault_id}`,
        `vault_credential.archived ${kept.id}`,
        `vault.deleted ${vault_id}`,
        `vault_credential.deleted ${kept.id}`,
      ].toSorted(),
    );
  await webhooks.delete(endpoint.id);
});

test("no file and no line of the log contains a secret", async () => {
  const vault_id = await newVault("searched");
  for (const auth of [bearer("https://a.example.com"), oauth("https://b.example.com"), variable("SEARCHED")]) {
    const { id } = await vaults().credentials.create(vault_id, { auth });
    await vaults().credentials.update(id, { vault_id, display_name: "renamed" });
  }
  const root = join(stage.database, "..");
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  expect(files.some((file) => file.endsWith("secrets.key"))).toBe(true);
  for (const file of files) expect((await readFile(file)).includes(SECRET), file).toBe(false);
  expect(JSON.stringify(stage.server.log)).not.toContain(SECRET);
  const database = (await Promise.all(files.filter((file) => file.includes("tandem.db")).map((file) => readFile(file))))
    .map((content) => content.toString("latin1"))
    .join("");
  // The search reads the files that hold the credentials.
  expect(database).toContain("https://b.example.com");
});
