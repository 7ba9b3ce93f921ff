import {
  agent,
  assertSupportedMcpServers,
  methods,
  PROTOCOL_VERSION,
  RequestError as WireRequestError,
  type AgentApp,
  type AgentContext,
  type ClientCapabilities,
  type ContentBlock,
  type InitializeResponse,
  type McpServer,
} from "@agentclientprotocol/sdk/experimental/v2";
import { RequestError } from "@tandem/protocol";
import { AcpDesk } from "../acp-desk.ts";
import { UNFORESEEN, wireError } from "../acp-error.ts";
import { clientServers, type NamedMcpServer } from "../client-mcp-server.ts";
import type { AcpParts } from "../create-acp-agent.ts";
import { messageContent, type PromptBlock } from "../prompt-content.ts";
import { V2Outlet } from "./v2-outlet.ts";
import { configOptions } from "./v2-update.ts";

const MCP = { stdio: {}, http: {} };
const BLOCKS: ReadonlySet<string> = new Set(["text", "image", "audio", "resource_link", "resource"]);

/** Version 2 of the protocol, which is a draft: its requests, put to the desk. */
export function createV2Agent(parts: AcpParts): AgentApp {
  let client: AgentContext | undefined;
  let capabilities: ClientCapabilities = {};
  let opening: Promise<{ desk: AcpDesk; outlet: V2Outlet }> | undefined;

  const open = (): Promise<{ desk: AcpDesk; outlet: V2Outlet }> =>
    (opening ??= Promise.resolve(parts.engine).then((engine) => {
      const outlet = new V2Outlet(client!, capabilities);
      return { outlet, desk: new AcpDesk(parts, engine, outlet) };
    }));

  /** What went wrong, in the protocol's words. */
  const answer = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof WireRequestError) throw error;
      const told = wireError(error);
      if (told) throw new WireRequestError(told.code, told.message, told.data);
      parts.onFailure?.(error, "a request");
      throw new WireRequestError(UNFORESEEN.code, UNFORESEEN.message);
    }
  };
  const atDesk = <T>(work: (desk: AcpDesk, outlet: V2Outlet) => Promise<T>): Promise<T> =>
    answer(async () => {
      const { desk, outlet } = await open();
      return work(desk, outlet);
    });

  return agent({ name: "tandem" })
    .onConnect((connection) => {
      client = connection.client;
      void connection.closed.finally(() => {
        void opening?.then(({ desk }) => desk.leave()).catch(() => undefined);
      });
    })
    .onRequest(methods.agent.initialize, ({ params }) => {
      capabilities = params.capabilities ?? {};
      return initializeResponse(parts.version);
    })
    .onRequest(methods.agent.auth.login, () =>
      answer(async () => {
        await parts.checkLogin?.();
        return {};
      }),
    )
    .onRequest(methods.agent.session.new, ({ params }) =>
      atDesk(async (desk) => {
        const { id, settings } = await desk.begin(wanted(params));
        return { sessionId: id, configOptions: configOptions(settings) };
      }),
    )
    .onRequest(methods.agent.session.resume, ({ params }) =>
      atDesk(async (desk, outlet) => {
        const { sessionId, replayFrom } = params;
        if (replayFrom && replayFrom.type !== "start") {
          throw new RequestError("invalid_request", `replayFrom: there is no replay from ${replayFrom.type}.`);
        }
        const { settings } = await (replayFrom
          ? desk.load(sessionId, wanted(params))
          : desk.resume(sessionId, wanted(params)));
        // How things stand goes before the answer, whether anything was replayed or not.
        await outlet.update(sessionId, [{ type: "state", ...desk.state(sessionId) }]);
        return { configOptions: configOptions(settings) };
      }),
    )
    .onRequest(methods.agent.session.list, ({ params: { cwd, cursor } }) =>
      atDesk(async (desk) => {
        const { sessions, next } = await desk.list({ ...(cwd && { folder: cwd }), ...(cursor && { cursor }) });
        return {
          sessions: sessions.map(({ id, folder, title, updatedAt }) => ({
            ...{ sessionId: id, cwd: folder, title, updatedAt },
          })),
          ...(next !== null && { nextCursor: next }),
        };
      }),
    )
    .onRequest(methods.agent.session.close, ({ params }) =>
      atDesk(async (desk) => {
        await desk.close(params.sessionId);
        return {};
      }),
    )
    .onRequest(methods.agent.session.delete, ({ params }) =>
      atDesk(async (desk) => {
        await desk.delete(params.sessionId);
        return {};
      }),
    )
    .onRequest(methods.agent.session.setConfigOption, ({ params }) =>
      atDesk(async (desk) => {
        const settings = await desk.set(params.sessionId, params.configId, String(params.value));
        return { configOptions: configOptions(settings) };
      }),
    )
    .onRequest(methods.agent.session.prompt, ({ params }) =>
      atDesk(async (desk) => {
        const prompt = desk.prompt(params.sessionId, messageContent(params.prompt.map(known)));
        try {
          // It has its place in the conversation: how its turn goes on and ends is told by the session's state.
          return { messageId: await prompt.begun };
        } catch (error) {
          if (prompt.isCancelled) throw WireRequestError.requestCancelled();
          throw error;
        }
      }),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) =>
      opening?.then(({ desk }) => desk.cancel(params.sessionId)),
    );
}

const initializeResponse = (version: string): InitializeResponse => ({
  protocolVersion: PROTOCOL_VERSION,
  info: { name: "tandem", title: "Tandem", version },
  capabilities: { session: { prompt: { image: {}, embeddedContext: {} }, mcp: MCP, delete: {} } },
  authMethods: [
    {
      type: "agent",
      methodId: "claude-code",
      name: "Claude Code's own login or key",
      description: "Uses what `tandem status` names. To log in: run `claude`, then /login.",
    },
  ],
});

/** The folder and the servers that a request names. */
function wanted(params: { cwd: string; additionalDirectories?: string[]; mcpServers?: McpServer[] }) {
  if (params.additionalDirectories?.length) {
    throw new RequestError("invalid_request", "additionalDirectories: a session works in one folder.");
  }
  assertSupportedMcpServers(params.mcpServers, MCP);
  return { folder: params.cwd, servers: clientServers((params.mcpServers ?? []) as NamedMcpServer[]) };
}

/** Kinds of content are open in this version; those that are not known here cannot be put to the model. */
function known(block: ContentBlock): PromptBlock {
  if (BLOCKS.has(block.type)) return block as PromptBlock;
  throw new RequestError("invalid_request", `prompt: content of the type ${block.type} is not supported.`);
}
