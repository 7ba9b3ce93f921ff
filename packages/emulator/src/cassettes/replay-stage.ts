import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openConversation } from "@tandem/claude-code";
import { emulatedConversations } from "@tandem/claude-code/emulated";
import {
  SESSION_METADATA,
  unmarkFolder,
  type AgentCreateParams,
  type Cassette,
  type ReplayMode,
  type Session,
} from "@tandem/protocol";
import { always, startRehearsal, when, type ModelRequest, type Reply, type Script } from "@tandem/rehearsal";
import { createEngine, MovableClock, type Engine } from "@tandem/sessions";
import { openStore } from "@tandem/storage";
import { restoreFolderBundle } from "@tandem/workspace";
import { builtinTools } from "../builtin-tools.ts";
import { engineSettings, KEY } from "../engine-settings.ts";
import { RecordedRun } from "./recorded-run.ts";

/** An engine of its own for one replay, with the recorded agent, rules and folder, and a session that waits for input. */
export interface ReplayStage extends AsyncDisposable {
  engine: Engine;
  session: Session;
  folder: string;
  run: RecordedRun;
}

/** `script` answers the requests after the last recorded one. */
export async function openReplayStage(recorded: Cassette, mode: ReplayMode, script?: Script): Promise<ReplayStage> {
  await using parts = new AsyncDisposableStack();
  const root = await realpath(await mkdtemp(join(tmpdir(), "tandem-replay-")));
  parts.defer(() => rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  const folder = join(root, "project");
  await Promise.all([folder, join(root, "home"), join(root, "state")].map((path) => mkdir(path)));
  const cassette = unmarkFolder(recorded, folder);
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
  });
  const claudeCode = mode === "real_tools";
  const open = claudeCode ? openConversation : emulated;
  const { header } = cassette;
  const settings = engineSettings({
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
    models: async () => modelsOf(cassette),
    rules: header.rules.flatMap(({ scope, source: _source, ...rule }) => (scope === "project" ? [rule] : [])),
  });
  await engine.start();
  parts.defer(() => engine.stop(0));
  const session = await createSession(engine, cassette);
  const owned = parts.move();
  return { engine, session, folder, run, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function continued(run: RecordedRun, script: Script): Script {
  if (typeof script === "function") {
    return async (request) => (run.hasAnswer ? run.script(request) : script(request));
  }
  const recorded = async (request: ModelRequest): Promise<Reply> => (await run.script(request))!;
  return [always(when(() => run.hasAnswer, recorded)), ...script];
}

async function createSession(engine: Engine, { header }: Cassette): Promise<Session> {
  const { name, description, model, system, tools } = header.agent;
  const agent = await engine.agents.create({ name, description, model, system, tools: paramsOf(tools) });
  const session = await engine.sessions.create({
    agent: agent.id,
    environment_id: "env_local",
    metadata: { ...header.settings, [SESSION_METADATA.permissionMode]: header.permission_mode },
    ...(header.budget && { budget: header.budget }),
  });
  const owners = { user: null, agent: agent.id, session: session.id };
  for (const { scope, source, ...rule } of header.rules) {
    if (scope !== "project") await engine.rules.add(rule, { scope, of: owners[scope], by: source });
  }
  return session;
}

type ToolParams = NonNullable<AgentCreateParams["tools"]>;

const paramsOf = (tools: Cassette["header"]["agent"]["tools"]): ToolParams =>
  tools.filter(({ type }) => type !== "mcp_toolset");

/** The agent's model, and those of single messages. */
function modelsOf({ header, steps }: Cassette): { id: string; name: string; aliases: string[] }[] {
  const asked = steps.flatMap((step) =>
    step.kind === "input" && step.event.type === "user.message" && step.event.model ? [step.event.model] : [],
  );
  const settings = header.settings[SESSION_METADATA.model];
  return [...new Set([header.agent.model.id, ...asked, ...(settings ? [settings] : [])])].map((id) => ({
    id,
    name: id,
    aliases: [],
  }));
}
