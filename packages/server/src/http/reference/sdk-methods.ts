export interface SdkMethod {
  support: "yes" | "partly" | "refused";
  /** Differences from Anthropic's API. */
  note?: string;
}

const yes = (note?: string): SdkMethod => ({ support: "yes", note });
const partly = (note: string): SdkMethod => ({ support: "partly", note });
const refused = (note: string): SdkMethod => ({ support: "refused", note });

const worker = refused("501: Tandem runs the tools itself; there are no self-hosted environments");
const fixedResources = refused("501: a session is given its files when it is created");
const agentFields =
  "400 for `skills`, `execution_identity` other than `service_account`, `model.inference_geo`, `model.speed: fast`, an advisor, and domain lists of the web tools";

/**
 * The official client's methods under `client.beta`, and how Tandem supports each. A test checks that none is missing.
 */
export const sdkMethods: Readonly<Record<string, SdkMethod>> = {
  "agents.create": partly(agentFields),
  "agents.retrieve": yes(),
  "agents.update": partly("as `agents.create`"),
  "agents.list": yes(),
  "agents.archive": yes(),
  "agents.versions.list": yes(),
  "environments.create": partly(
    "the folder is in `metadata` (`tandem.path`, `tandem.isolation`, `tandem.branch`), by default a private scratch folder; 400 for `self_hosted`, packages and limited networking",
  ),
  "environments.retrieve": yes("`env_local` is built in: the folder that the server was started in"),
  "environments.update": partly("as `environments.create`; 403 for `env_local`"),
  "environments.list": yes(),
  "environments.delete": yes("409 while sessions use it; 403 for `env_local`"),
  "environments.archive": yes("403 for `env_local`"),
  "environments.work.retrieve": worker,
  "environments.work.update": worker,
  "environments.work.list": worker,
  "environments.work.ack": worker,
  "environments.work.heartbeat": worker,
  "environments.work.poll": worker,
  "environments.work.stats": worker,
  "environments.work.stop": worker,
  "environments.work.poller": worker,
  "environments.work.worker": worker,
  "sessions.create": partly(
    "400 for `vault_ids`, repositories and memory stores among the `resources`, and outcomes among the `initial_events`",
  ),
  "sessions.retrieve": yes(),
  "sessions.update": partly("400 for `vault_ids`"),
  "sessions.list": partly("400 for `deployment_id` and `memory_store_id`"),
  "sessions.delete": yes(),
  "sessions.archive": yes(),
  "sessions.events.list": yes("`tandem.` events are among them, except for the SDK's tool runner"),
  "sessions.events.send": partly(
    "400 for `user.tool_result` (Tandem runs the built-in tools), `user.define_outcome` and `system.message`; a try that the client repeats by itself is stored once",
  ),
  "sessions.events.stream": yes("also goes on after `Last-Event-ID`; more previews and events with `tandem=true`"),
  "sessions.events.toolRunner": yes("for custom tools"),
  "sessions.threads.retrieve": yes(),
  "sessions.threads.list": yes(),
  "sessions.threads.archive": refused("501: a thread ends with its session"),
  "sessions.threads.events.list": yes(),
  "sessions.threads.events.stream": yes("as `sessions.events.stream`"),
  "sessions.resources.retrieve": yes(),
  "sessions.resources.list": yes(),
  "sessions.resources.update": fixedResources,
  "sessions.resources.delete": fixedResources,
  "sessions.resources.add": fixedResources,
  "files.list": yes(),
  "files.delete": yes(),
  "files.download": yes(),
  "files.retrieveMetadata": yes(),
  "files.upload": yes(),
  "memoryStores.create": yes("private to its program; the context's search does not find its content"),
  "memoryStores.retrieve": yes("`memstore_` and the context's own id: the memories of the context itself"),
  "memoryStores.update": yes(),
  "memoryStores.list": yes(),
  "memoryStores.archive": yes("403 for the context's own"),
  "memoryStores.delete": yes("403 for the context's own"),
  "memoryStores.memories.create": yes("each write is a commit in the context's folder, in the name of the token"),
  "memoryStores.memories.retrieve": yes(),
  "memoryStores.memories.update": yes(),
  "memoryStores.memories.list": yes(),
  "memoryStores.memories.delete": yes(),
  "memoryStores.memoryVersions.retrieve": yes(),
  "memoryStores.memoryVersions.list": yes("what people changed in the folder is one version without an author"),
  "memoryStores.memoryVersions.redact": yes(
    "400 for what a memory says now; the git history of the context's folder keeps the text",
  ),
  "models.retrieve": partly("by id or alias; what Claude Code does not tell (capabilities, limits, dates) is null"),
  "models.list": partly("as `models.retrieve`"),
};

/** Resources of `client.beta` that are refused as a whole, with 501. */
export const refusedResources = [
  "messages",
  "skills",
  "vaults",
  "deployments",
  "deploymentRuns",
  "dreams",
  "userProfiles",
  "tunnels",
  "organization",
] as const;
