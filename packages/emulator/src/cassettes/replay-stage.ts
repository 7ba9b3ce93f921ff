import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostServer } from "@tandem/claude-code";
import { emulatedConversations } from "@tandem/claude-code/emulated";
import {
  SESSION_METADATA,
  unmarkPaths,
  type AgentCreateParams,
  type Cassette,
  type McpServer,
  type ReplayMode,
  type Session,
  type SessionPaths,
  type ThreadAgent,
} from "@tandem/protocol";
import { always, startRehearsal, when, type ModelRequest, type Reply, type Script } from "@tandem/rehearsal";
import { createEngine, MovableClock, type Engine } from "@tandem/sessions";
import { openStore } from "@tandem/storage";
import { restoreFolderBundle } from "@tandem/workspace";
import { z } from "zod";
import { builtinTools } from "../builtin-tools.ts";
import { CHECKPOINTS, emulatedSettings, KEY } from "../emulated-settings.ts";
import { startRecordedMcpServer } from "./recorded-mcp-server.ts";
import { RecordedRun } from "./recorded-run.ts";

/** An engine of its own for one replay, with the recorded agent, rules and folder, and a session that waits for input. */
export interface ReplayStage extends AsyncDisposable {
  engine: Engine;
  session: Session;
  paths: SessionPaths;
  run: RecordedRun;
}

/** `script` answers the requests after the last recorded one. */
export async function openReplayStage(recorded: Cassette, mode: ReplayMode, script?: Script): Promise<ReplayStage> {
  await using parts = new AsyncDisposableStack();
  const root = await realpath(await mkdtemp(join(tmpdir(), "tandem-replay-")));
  parts.defer(() => rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  const folder = join(root, "project");
  await Promise.all([folder, join(root, "home"), join(root, "state")].map((path) => mkdir(path)));
  // Of a process with an API key and without a sandbox, as all of recorded tools are.
  const paths = { folder, plans: join(root, "state", "claude-code", "plans") };
  const cassette = unmarkPaths(recorded, paths);
  if (cassette.folder.type === "bundle") {
    await restoreFolderBundle(Buffer.from(cassette.folder.bundle, "base64"), "before", folder);
  }
  const run = new RecordedRun(cassette.steps);
  const model = parts.use(await startRehearsal(script ? continued(run, script) : run.script));
  const store = parts.use(await openStore(join(root, "replay.db")));
  const emulate = builtinTools({});
  const emulated = emulatedConversations({
    model: { url: model.url, key: KEY },
    runBuiltinTool: (call) => (script && !run.hasCall(call.id) ? emulate(call) : run.runBuiltinTool(call)),
    describeDenial: run.describeDenial,
    sleep: async () => undefined,
    ownSteps: run.ownSteps,
  });
  const claudeCode = mode === "real_tools";
  const open = claudeCode ? (await import("@tandem/claude-code")).openConversation : emulated;
  const { header } = cassette;
  const settings = emulatedSettings({
    root,
    folder,
    model,
    clock: new MovableClock(),
    claudeCode,
    openConversation(setup, host, transcripts) {
      const onOutput: typeof host.onOutput = (output) => {
        host.onOutput(output);
        if (output.type === "delta" && output.delta.type === "event_delta") {
          run.textStreamed(output.delta.delta.content.text.length);
        }
      };
      const conversation = open(setup, { ...host, onOutput }, transcripts);
      const send = conversation.send.bind(conversation);
      conversation.send = (message) => {
        send(message);
        run.messageReceived();
      };
      return conversation;
    },
  });
  const engine = await createEngine(store, {
    ...settings,
    // Without a process, a session that bypasses permissions can do no harm, also for root.
    ...(!claudeCode && { hostVariables: { ...settings.hostVariables, IS_SANDBOX: "1" } }),
    recovery: "stop",
    gradeOutcome: run.gradeOutcome,
    ...(!claudeCode && rewindsFiles(cassette) && { checkpoints: CHECKPOINTS }),
    // A recorded call may wait for an input of a person.
    mcpTimeout: MCP_TIMEOUT_MS,
    hostServers: async () => hostServers(run, header),
    models: async () => modelsOf(cassette),
    rules: header.rules.flatMap(({ scope, source: _source, ...rule }) => (scope === "project" ? [rule] : [])),
  });
  await engine.start();
  parts.defer(() => engine.stop(0));
  const servers = await startServers(parts, run, header);
  const session = await createSession(engine, cassette, servers);
  const owned = parts.move();
  return { engine, session, paths, run, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function continued(run: RecordedRun, script: Script): Script {
  if (typeof script === "function") {
    return async (request) => (run.hasAnswer ? run.script(request) : script(request));
  }
  const recorded = async (request: ModelRequest): Promise<Reply> => (await run.script(request))!;
  return [always(when(() => run.hasAnswer, recorded)), ...script];
}

const MCP_TIMEOUT_MS = 10 * 60 * 1_000;

/** The agent's MCP servers, with recorded results and addresses of this machine. */
async function startServers(
  parts: AsyncDisposableStack,
  run: RecordedRun,
  { agent }: Cassette["header"],
): Promise<McpServer[]> {
  const { mcpTools } = run;
  return await Promise.all(
    agent.mcp_servers.map(async (server) => {
      const names = [...new Set(mcpTools.get(server.name)?.map(({ tool }) => tool))];
      const call = (tool: string, input: Record<string, unknown>) => run.callMcpTool(server.name, tool, input);
      const { url } = parts.use(await startRecordedMcpServer({ names, call }));
      return { ...server, url: `${url}/mcp` };
    }),
  );
}

/** Servers that the session had without its agent, such as those of its context or of a client. */
function hostServers(run: RecordedRun, { agent }: Cassette["header"]): HostServer[] {
  const own = new Set(agent.mcp_servers.map(({ name }) => name));
  return [...run.mcpTools]
    .filter(([name]) => !own.has(name))
    .map(([name, calls]) => ({
      name,
      timeoutMs: MCP_TIMEOUT_MS,
      tools: [...Map.groupBy(calls, ({ tool }) => tool)].map(([tool, ofTool]) => ({
        name: tool,
        description: "",
        inputSchema: { type: "object" },
        readOnly: ofTool.some(({ permission, verdict }) => permission === "allow" && !GRANTS.has(verdict?.by ?? "")),
        async run(input: unknown) {
          const { content, isError } = await run.callMcpTool(name, tool, inputObject.parse(input));
          return { text: content.map(({ text }) => (typeof text === "string" ? text : "")).join("\n\n"), isError };
        },
      })),
    }));
}

/** Decisions that allow a call of a tool with effects, too. */
const GRANTS: ReadonlySet<string> = new Set(["rule", "mode", "grant"]);
const inputObject = z.record(z.string(), z.unknown());

async function createSession(engine: Engine, { header, steps }: Cassette, servers: McpServer[]): Promise<Session> {
  const { name, description, model, system, tools } = header.agent;
  const multiagent = await createRoster(engine, header.agent, servers);
  const own = { name, description, model, system, tools, mcp_servers: servers };
  const agent = await engine.agents.create({ ...own, ...(multiagent && { multiagent }) });
  const session = await engine.sessions.create({
    agent: agent.id,
    environment_id: isSelfHosted(steps) ? await createEnvironment(engine) : "env_local",
    metadata: { ...header.settings, [SESSION_METADATA.permissionMode]: header.permission_mode },
    ...(header.budget && { budget: header.budget }),
  });
  const owners = { user: null, agent: agent.id, session: session.id };
  for (const { scope, source, ...rule } of header.rules) {
    if (scope !== "project") await engine.rules.add(rule, { scope, of: owners[scope], by: source });
  }
  return session;
}

/** Recorded tools change no files, but a rewind of files needs checkpoints. */
const rewindsFiles = ({ steps }: Cassette): boolean =>
  steps.some(
    (step) => step.kind === "input" && step.event.type === "tandem.rewound" && step.event.scope !== "conversation",
  );

const isSelfHosted = (steps: Cassette["steps"]): boolean =>
  steps.some((step) => step.kind === "input" && step.event.type === "user.tool_result");

async function createEnvironment(engine: Engine): Promise<string> {
  const { id } = await engine.environments.create({ name: "replay", config: { type: "self_hosted" } });
  return id;
}

/** The agents that the session's agent may call. */
async function createRoster(
  engine: Engine,
  { multiagent, name: self }: Cassette["header"]["agent"],
  servers: readonly McpServer[],
): Promise<AgentCreateParams["multiagent"]> {
  if (!multiagent) return undefined;
  const create = (agents: readonly ThreadAgent[]) =>
    Promise.all(
      agents.map(async ({ name, description, model, system, tools, mcp_servers: own }) => {
        if (name === self) return { type: "self" as const };
        const reached = own.map((server) => servers.find((each) => each.name === server.name) ?? server);
        return (await engine.agents.create({ name, description, model, system, tools, mcp_servers: reached })).id;
      }),
    );
  if (multiagent.type === "coordinator") return { type: multiagent.type, agents: await create(multiagent.agents) };
  const { subagents } = multiagent;
  return {
    type: multiagent.type,
    subagents:
      subagents.type === "enabled"
        ? { ...subagents, predefined_agents: await create(subagents.predefined_agents) }
        : subagents,
    workflows: { type: "disabled" },
  };
}

/** The agent's model, those of its subagents, and those of single messages. */
function modelsOf({ header, steps }: Cassette): { id: string; name: string; aliases: string[] }[] {
  const asked = steps.flatMap((step) =>
    step.kind === "input" && step.event.type === "user.message" && step.event.model ? [step.event.model] : [],
  );
  const settings = header.settings[SESSION_METADATA.model];
  return [
    ...new Set([
      header.agent.model.id,
      ...rosterOf(header.agent).map(({ model }) => model.id),
      ...asked,
      ...(settings ? [settings] : []),
    ]),
  ].map((id) => ({
    id,
    name: id,
    aliases: [],
  }));
}

function rosterOf({ multiagent }: Cassette["header"]["agent"]): ThreadAgent[] {
  if (!multiagent) return [];
  if (multiagent.type === "coordinator") return multiagent.agents;
  return multiagent.subagents.type === "enabled" ? multiagent.subagents.predefined_agents : [];
}
