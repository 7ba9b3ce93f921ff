import type {
  ConversationHost,
  ConversationOutput,
  ConversationSetup,
  Decision,
  HookAnswer,
  HostServer,
  ToolCallRequest,
} from "@tandem/claude-code";
import type { SessionEventBody } from "@tandem/protocol";
import type { SessionRow, Store } from "@tandem/storage";
import type { ProcessSettings } from "./process-settings.ts";
import type { GatewayWatch } from "../budgets/side-requests.ts";
import { HostHooks } from "../hooks/host-hooks.ts";
import { LSP_SERVER } from "../language-servers/lsp-server.ts";
import { hostServersOf } from "../mcp/host-servers-of.ts";
import { OwnerUrls } from "../mcp/owner-urls.ts";
import type { ToolDefinitions } from "../mcp/tool-definitions.ts";
import { folderServer, agentServer, type SessionMcpServer } from "../mcp/session-mcp-server.ts";
import { openServerSandbox } from "../mcp/server-sandbox.ts";
import { SessionServers } from "../mcp/session-servers.ts";
import { explainBlocked } from "./explain-blocked.ts";
import { openSandbox } from "./open-sandbox.ts";
import { WebFetchGrants } from "./web-fetch-grants.ts";
import type { FolderTrust } from "../trust/folder-trust.ts";
import { storeSkills } from "../trust/store-skills.ts";
import { type FolderParts, trustedParts } from "../trust/trusted-parts.ts";

/** The setup of a process besides its agent: contents of a trusted folder, MCP servers, a sandbox, hooks. */
export interface ProcessSetup extends AsyncDisposable {
  setup: Pick<ConversationSetup, "mcpServers" | "connectedServers" | "sandbox" | "trusted">;
  /** Tools in addition to the agent's. */
  tools: readonly string[];
  /** Events to log before any output of the process. */
  events: SessionEventBody[];
  /** Adjusts a decision about a call by its MCP server. */
  judge(call: { mcpServer?: string }, decision: Decision): Decision;
  hooks: Pick<ConversationHost, "beforeTool" | "afterTool" | "afterFailure">;
  /** Receives every output of the process. */
  observe(output: ConversationOutput): void;
  /** Whether a process that starts now would get the same setup. */
  isCurrent(): Promise<boolean>;
}

export async function openProcessSetup(
  row: SessionRow,
  settings: ProcessSettings,
  around: {
    store: Pick<Store, "agents" | "records">;
    definitions: ToolDefinitions;
    isFirst: boolean;
    write: (events: SessionEventBody[]) => void;
    gateway?: GatewayWatch;
    /** Redacts a secret in the session's log. */
    hide: (secret: string) => void;
    /** A login failed that may work later: the next turn needs another process. */
    onLoginFailed: () => void;
  },
): Promise<ProcessSetup> {
  await using resources = new AsyncDisposableStack();
  const { vaults } = settings;
  // The programs of a self-hosted environment run elsewhere.
  const vaultVariables = row.selfHosted ? undefined : await vaults?.openVariables(row.vaultIds ?? [], around.hide);
  // Looks at the folder meanwhile.
  const hosting = hostServersOf(row, settings);
  hosting.catch(() => {});
  const { sandbox, opened, isCurrent } = await openSandbox(row, settings, { ...around, vaultVariables });
  if (opened) resources.use(opened);
  const { trust, parts, skillsIn } = await readFolder(row.folder, settings);
  const ownerUrls = await new OwnerUrls(around.store).among(row);
  const hosted = await hosting;
  const { languageServers } = settings;
  const hasLsp = languageServers !== undefined && hosted.some(({ name }) => name === LSP_SERVER);
  if (hasLsp) resources.use(languageServers.hold(row.folder));
  const servers = resources.use(
    await SessionServers.open(
      withLogins(await wantedServers(row, settings, hosted, ownerUrls, trust, parts), row, vaults),
      {
        definitions: around.definitions,
        stateFolder: settings.stateFolder,
        hostVariables: settings.hostVariables,
        connectMs: settings.deadlines.init,
        callMs: settings.mcpTimeout,
        openSandbox: (server) => openServerSandbox(server, row, settings, around.write),
        onLoginFailed: (event) => {
          around.write([event]);
          around.onLoginFailed();
        },
      },
    ),
  );
  if (row.vaultIds?.length && servers.failed.some(({ needsLogin }) => needsLogin)) around.onLoginFailed();
  const grants = opened && new WebFetchGrants((host) => opened.allowHost(host));
  const own = toolHooks(row, settings, around.write);
  const owned = resources.move();
  const isNews = around.isFirst || servers.failed.length > 0;
  return {
    setup: {
      mcpServers: [],
      connectedServers: servers.connected,
      sandbox,
      ...(parts && { trusted: { ...parts, ...(skillsIn !== undefined && { skillsIn }) } }),
    },
    tools: skillsIn === undefined ? [] : ["Skill"],
    events: [
      ...(around.isFirst && trust ? untrustedNotice(trust) : []),
      ...(around.isFirst && !sandbox.on && settings.sandbox?.mode === "auto" ? [noSandbox(sandbox)] : []),
      ...(isNews ? servers.events : []),
    ],
    judge: (call, decision) => servers.decide(call, decision),
    hooks: {
      ...granting(own, grants),
      ...(opened && { afterFailure: explainBlocked(row.folder, settings, around.write) }),
      ...(hasLsp && { afterTool: inTurn(own.afterTool, languageServers.diagnoseEdit(row.folder, around.write)) }),
    },
    observe: (output) => grants?.observe(output),
    isCurrent: async () => {
      const now = await readFolder(row.folder, settings);
      return JSON.stringify(now) === JSON.stringify({ trust, parts, skillsIn }) && (await isCurrent());
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type AfterTool = NonNullable<ProcessSetup["hooks"]["afterTool"]>;

/** Both hooks, one after the other: the first may change the file. */
const inTurn =
  (first: AfterTool | undefined, second: AfterTool): AfterTool =>
  async (call) => {
    const said = [await first?.(call), await second(call)].flatMap((each) => each?.context ?? []);
    return said.length > 0 ? { context: said.join("\n\n") } : {};
  };

/** The settings of the folder that take effect, if it is trusted. */
async function readFolder(folder: string, { trustOf, stateFolder, clock }: ProcessSettings) {
  const trust = await trustOf?.(folder);
  const config = trust?.trusted ? trust.config : undefined;
  const parts = config && trustedParts(config);
  const skillsIn = config && parts?.skills.length ? await storeSkills(stateFolder, config, clock) : undefined;
  return { trust, parts, skillsIn };
}

/** Adds a grant for the host of each allowed `WebFetch`, with the input that the host's hooks leave it with. */
function granting(hooks: ProcessSetup["hooks"], grants: WebFetchGrants | undefined): ProcessSetup["hooks"] {
  if (!grants) return hooks;
  return {
    ...hooks,
    async beforeTool(call: ToolCallRequest): Promise<HookAnswer> {
      const said: HookAnswer = (await hooks.beforeTool?.(call)) ?? { allow: true };
      if (said.allow) grants.start({ ...call, input: said.input ?? call.input });
      return said;
    },
  };
}

/** The agent's servers first; then servers of the client and of the folder whose names are still free. */
async function wantedServers(
  row: SessionRow,
  settings: ProcessSettings,
  hosted: readonly HostServer[],
  owned: ReadonlySet<string>,
  trust: FolderTrust | undefined,
  parts: FolderParts | undefined,
): Promise<{ name: string; server: Promise<SessionMcpServer> }[]> {
  const { mcpServer, publicMcpServers = false } = settings;
  const named = row.agent.mcp_servers.map((server) => ({
    name: server.name,
    server: agentServer(server, { named: mcpServer, publicOnly: publicMcpServers || !owned.has(server.url) }),
  }));
  const brought = (settings.sessionServers?.(row.id) ?? []).filter(
    ({ name }) => ![...named, ...hosted].some((other) => other.name === name),
  );
  const own = [
    ...named,
    ...brought.map((server) => ({
      name: server.name,
      server: Promise.resolve(publicMcpServers ? withPublicAddress(server) : server),
    })),
  ];
  const taken = new Set([...own, ...hosted].map(({ name }) => name));
  const folders = Object.entries(parts?.servers ?? {}).filter(([name]) => !taken.has(name));
  if (folders.length === 0) return own;
  const { isDenied } = await import("@tandem/claude-code");
  // A folder may set variables for its servers, but no credentials.
  const variables = Object.fromEntries(Object.entries(settings.hostVariables).filter(([name]) => !isDenied(name)));
  const at = { folder: row.folder, root: trust?.folder ?? row.folder, variables };
  return [
    ...own,
    ...folders.map(([name, server]) => ({ name, server: resolveLater(() => folderServer(name, server, at)) })),
  ];
}

type WantedServer = Awaited<ReturnType<typeof wantedServers>>[number];

/** Tokens of the session's vaults for servers over HTTP. */
const withLogins = (
  wanted: readonly WantedServer[],
  { vaultIds = [] }: Pick<SessionRow, "vaultIds">,
  vaults: ProcessSettings["vaults"],
): WantedServer[] =>
  wanted.map(({ name, server }) => ({ name, server: server.then((each) => withLogin(each, vaultIds, vaults)) }));

function withLogin(
  server: SessionMcpServer,
  vaultIds: readonly string[],
  vaults: ProcessSettings["vaults"],
): SessionMcpServer {
  const { endpoint } = server;
  const authorization = endpoint.type === "stdio" ? undefined : vaults?.authorizationFor(vaultIds, endpoint.url);
  return authorization && endpoint.type !== "stdio" ? { ...server, endpoint: { ...endpoint, authorization } } : server;
}

const withPublicAddress = (server: SessionMcpServer): SessionMcpServer =>
  server.endpoint.type === "stdio" ? server : { ...server, endpoint: { ...server.endpoint, publicOnly: true } };

/** A failing server must not block the others. */
const resolveLater = async (find: () => SessionMcpServer): Promise<SessionMcpServer> => find();

/** Logged once: what an untrusted folder would load, and how to trust it. */
function untrustedNotice({ state, folder, config, reason }: FolderTrust): SessionEventBody[] {
  const files = config?.files.slice(0, 10).join(", ") ?? "";
  const more = (config?.files.length ?? 0) > 10 ? " and more" : "";
  const how = `If you trust them: tandem trust --folder ${folder}`;
  const notice = (text: string): SessionEventBody[] => [{ type: "tandem.notice", level: "info", text }];
  switch (state) {
    case "trusted":
    case "empty":
      return [];
    case "refused":
      return notice(`Settings, hooks, MCP servers and skills of the folder were not loaded. ${reason ?? ""}`.trim());
    case "untrusted":
      return notice(`The folder is not trusted, so these were not loaded: ${files}${more}. ${how}`);
    case "changed":
      return notice(`The folder has changed since it was trusted, so these were not loaded: ${files}${more}. ${how}`);
  }
}

const noSandbox = ({ reason, fix = "" }: { reason: string; fix?: string }): SessionEventBody => ({
  type: "tandem.notice",
  level: "warning",
  text: `This session runs without a sandbox. ${reason} ${fix}`.trim(),
});

function toolHooks(
  row: SessionRow,
  settings: ProcessSettings,
  write: (events: SessionEventBody[]) => void,
): ProcessSetup["hooks"] {
  const hooks = new HostHooks(settings.hooks ?? []);
  const { stateFolder, hostVariables } = settings;
  const ask = async (on: "beforeTool" | "afterTool", call: ToolCallRequest, beside: Record<string, unknown> = {}) => {
    const { eventId, name, mcpServer, input, thread, signal } = call;
    const tool = mcpServer === undefined ? name : `mcp__${mcpServer}__${name}`;
    const about = { session_id: row.id, folder: row.folder, agent: row.agent.name, event_id: eventId, tool, thread };
    const run = { folder: row.folder, stateFolder, hostVariables, signal };
    const said = await hooks.ask({ on, tool, input, eventId, about: { ...about, ...beside } }, run);
    write(said.events);
    return said;
  };
  return {
    ...(hooks.has("beforeTool") && {
      async beforeTool(call: ToolCallRequest): Promise<HookAnswer> {
        const { events: _, ...said } = await ask("beforeTool", call);
        return said;
      },
    }),
    ...(hooks.has("afterTool") && {
      async afterTool(call: ToolCallRequest & { result: unknown }) {
        const said = await ask("afterTool", call, { result: call.result });
        const words = [said.context, said.allow ? undefined : `A hook objects to this result: ${said.message}`];
        const context = words.filter((text) => text !== undefined).join("\n\n");
        return context ? { context } : {};
      },
    }),
  };
}
