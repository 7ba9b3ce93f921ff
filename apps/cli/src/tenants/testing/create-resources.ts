import { MARK, type Ids } from "./route-inputs.ts";
import { skillForm } from "./skill-form.ts";
import { must, until, type Answer, type tenantStage } from "./tenant-stage.ts";

type Stage = Awaited<ReturnType<typeof tenantStage>>;

/** Creates one of each resource for acme and returns their ids. */
export async function createResources(stage: Stage, token: string): Promise<Ids> {
  const post = (path: string, body: unknown) => must(stage.call(token, "POST", path, body));
  const get = (path: string) => must(stage.call(token, "GET", path));
  const folder = `${stage.homeOf("acme")}/project`;
  const agent = await post("/v1/agents", {
    name: MARK,
    model: "sonnet",
    system: MARK,
    tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_ask" } } }],
  });
  const environment = await post("/v1/environments", { name: MARK, metadata: { "tandem.path": folder } });
  const selfHosted = await post("/v1/environments", { name: MARK, config: { type: "self_hosted" } });
  const key = await post(`/v1/environments/${selfHosted.body.id}/keys`, { name: MARK });
  const archived = await post("/v1/environments", { name: "archived", metadata: { "tandem.path": folder } });
  const deployment = await post("/v1/deployments", {
    name: MARK,
    agent: agent.body.id,
    environment_id: archived.body.id,
    initial_events: [{ type: "user.message", content: [{ type: "text", text: MARK }] }],
  });
  await post(`/v1/environments/${archived.body.id}/archive`, undefined);
  const run = await post(`/v1/deployments/${deployment.body.id}/run`, undefined);
  const trigger = await post(`/v1/deployments/${deployment.body.id}/triggers`, {
    name: MARK,
    verification: { type: "github" },
  });
  const vault = await post("/v1/vaults", { display_name: MARK });
  const credential = await post(`/v1/vaults/${vault.body.id}/credentials`, {
    display_name: MARK,
    auth: { type: "static_bearer", mcp_server_url: `https://127.0.0.1/${MARK}`, token: MARK },
  });
  const form = new FormData();
  form.append("file", new Blob([MARK]), "notes.txt");
  const file = await must(stage.call(token, "POST", "/v1/files", form));
  const skill = await must(stage.call(token, "POST", "/v1/skills", skillForm(MARK)));
  const session = await post("/v1/sessions", {
    agent: agent.body.id,
    environment_id: environment.body.id,
    title: MARK,
    resources: [{ type: "file", file_id: file.body.id }],
    initial_events: [{ type: "user.message", content: [{ type: "text", text: `Please write about ${MARK}` }] }],
  });
  const at = `/v1/sessions/${session.body.id}`;
  const approvals = await until(
    () => get("/v1/approvals"),
    ({ body }) => body.data.length > 0,
  );
  const store = await post("/v1/memory_stores", { name: MARK });
  const memories = `/v1/memory_stores/${store.body.id}`;
  const memory = await post(`${memories}/memories`, { path: "/heron.md", content: MARK });
  const versions = await get(`${memories}/memory_versions`);
  const webhook = await post("/v1/organizations/webhooks", {
    name: MARK,
    url: `https://127.0.0.1/${MARK}`,
    enabled_events: ["vault.created"],
  });
  const hooked = `/v1/organizations/webhooks/${webhook.body.id}`;
  await post(`${hooked}/test`, undefined);
  const deliveries = await get(`${hooked}/deliveries`);
  const rule = await post("/v1/rules", { tool: "Bash", pattern: MARK, action: "deny", reason: MARK });
  const host = await post("/v1/sandbox/hosts", { host: `${MARK}.example`, session_id: session.body.id });
  const known = await post("/v1/context/memories", { text: `The heron is called ${MARK}.` });
  const job = await post("/v1/jobs", { kind: "memory", params: { session: session.body.id } });
  const proposals = await until(
    () => get("/v1/proposals"),
    ({ body }) => body.data.length > 0,
  );
  const [threads, events, resources, tokens] = await Promise.all([
    get(`${at}/threads`),
    get(`${at}/events`),
    get(`${at}/resources`),
    get("/v1/tokens"),
  ]);
  const first = ({ body }: Answer): string => String(body.data[0]?.["id"]);
  return {
    folder,
    agent_id: agent.body.id,
    key_id: key.body.id,
    work_id: "work_01",
    environment_id: environment.body.id,
    deployment_id: deployment.body.id,
    deployment_run_id: run.body.id,
    trigger_id: trigger.body.id,
    vault_id: vault.body.id,
    credential_id: credential.body.id,
    file_id: file.body.id,
    skill_id: skill.body.id,
    version: String(skill.body["latest_version_id"]),
    session_id: session.body.id,
    approval_id: first(approvals),
    thread_id: first(threads),
    event_id: first(events),
    resource_id: first(resources),
    token_id: first(tokens),
    webhook_endpoint_id: webhook.body.id,
    delivery_id: first(deliveries),
    memory_store_id: store.body.id,
    memory_id: memory.body.id,
    memory_version_id: first(versions),
    rule_id: rule.body.id,
    sandbox_host_id: host.body.id,
    job_id: job.body.id,
    proposal_id: first(proposals),
    tenant_id: "acme",
    key: session.body.id,
    worker_id: "wrk_01",
    task_id: "task_1",
    mcp_server_id: "mcp_01",
    known: known.body["id"] ?? "",
  };
}
