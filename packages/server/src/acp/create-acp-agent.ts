import {
  agent,
  methods,
  RequestError as WireRequestError,
  type AgentApp,
  type AgentContext,
  type ClientCapabilities,
  PROTOCOL_VERSION,
  type InitializeRequest,
  type InitializeResponse,
} from "@agentclientprotocol/sdk/unstable";
import type { AcpAgentOptions } from "./acp-agent-options.ts";
import type { AcpService } from "./acp-service.ts";
import type * as SessionRequests from "./session-requests.ts";

/** An agent for one connection of an editor or another client of the Agent Client Protocol, version 1. */
export function createAcpAgent(options: AcpAgentOptions): AgentApp {
  let client: AgentContext | undefined;
  let disconnected: AbortSignal | undefined;
  let capabilities: ClientCapabilities = {};
  let service: AcpService | undefined;
  let opening: Promise<AcpService> | undefined;

  /** Loads everything that `initialize` does not need while the client reads the answer to it. */
  const open = (): Promise<AcpService> =>
    (opening ??= (async () => {
      const [{ openService }, engine] = await Promise.all([import("./session-requests.ts"), options.engine]);
      return (service = openService(options, engine, client!, capabilities));
    })());

  /** Turns errors into JSON-RPC errors. */
  const answer = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof WireRequestError) throw error;
      const { UNEXPECTED_ERROR, wireError } = await import("./acp-error.ts");
      const shown = wireError(error);
      if (shown) throw new WireRequestError(shown.code, shown.message, shown.data);
      options.onFailure?.(error, "a request");
      throw new WireRequestError(UNEXPECTED_ERROR.code, UNEXPECTED_ERROR.message);
    }
  };
  const serve = <T>(work: (service: AcpService, requests: typeof SessionRequests) => Promise<T>): Promise<T> =>
    answer(async () => work(await open(), await import("./session-requests.ts")));

  return agent({ name: "tandem" })
    .onConnect((connection) => {
      client = connection.client;
      disconnected = connection.signal;
      void connection.closed.finally(() => service?.leave());
    })
    .onRequest(methods.agent.initialize, ({ params }) => {
      capabilities = params.clientCapabilities ?? {};
      // The next session request reports a failure to open.
      open().catch(() => undefined);
      return initializeResponse(params, options.version);
    })
    .onRequest(methods.agent.authenticate, () =>
      answer(async () => {
        await options.checkLogin?.();
        return {};
      }),
    )
    .onRequest(methods.agent.session.new, ({ params }) =>
      serve(async (acp, { workspaceOf, settingsView }) => {
        const { id, settings } = await acp.begin(workspaceOf(params));
        return { sessionId: id, ...settingsView(settings) };
      }),
    )
    .onRequest(methods.agent.session.load, ({ params }) =>
      serve(async (acp, { workspaceOf, settingsView }) =>
        settingsView((await acp.load(params.sessionId, workspaceOf(params))).settings),
      ),
    )
    .onRequest(methods.agent.session.resume, ({ params }) =>
      serve(async (acp, { workspaceOf, settingsView }) =>
        settingsView((await acp.resume(params.sessionId, workspaceOf(params))).settings),
      ),
    )
    .onRequest(methods.agent.session.fork, ({ params }) =>
      serve(async (acp, { workspaceOf, settingsView }) => {
        const { id, settings } = await acp.fork(params.sessionId, workspaceOf(params));
        return { sessionId: id, ...settingsView(settings) };
      }),
    )
    .onRequest(methods.agent.session.list, ({ params: { cwd, cursor } }) =>
      serve(async (acp) => {
        const { sessions, next } = await acp.list({ ...(cwd && { folder: cwd }), ...(cursor && { cursor }) });
        return {
          sessions: sessions.map(({ id, folder, title, updatedAt }) => ({
            sessionId: id,
            cwd: folder,
            title,
            updatedAt,
          })),
          ...(next !== null && { nextCursor: next }),
        };
      }),
    )
    .onRequest(methods.agent.session.close, ({ params }) =>
      serve(async (acp) => {
        await acp.close(params.sessionId);
        return {};
      }),
    )
    .onRequest(methods.agent.session.delete, ({ params }) =>
      serve(async (acp) => {
        await acp.delete(params.sessionId);
        return {};
      }),
    )
    .onRequest(methods.agent.session.setMode, ({ params }) =>
      serve(async (acp) => {
        await acp.set(params.sessionId, "mode", params.modeId);
        return {};
      }),
    )
    .onRequest(methods.agent.session.setConfigOption, ({ params }) =>
      serve(async (acp, { settingsView }) => {
        const settings = await acp.set(params.sessionId, params.configId, String(params.value));
        return { configOptions: settingsView(settings).configOptions };
      }),
    )
    .onRequest(methods.agent.session.prompt, ({ params, signal }) =>
      answer(async () => {
        // No await before this if the service is open: a cancellation that arrives next must find the prompt.
        const prompt = (service ?? (await open())).prompt(params.sessionId, params.prompt);
        // A disconnect is not a cancellation.
        const cancel = (): void => void (disconnected?.aborted || service?.cancel(params.sessionId));
        signal.addEventListener("abort", cancel, { once: true });
        const outcome = await prompt.outcome;
        const { promptResponse } = await import("./session-requests.ts");
        return promptResponse(outcome);
      }),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => service?.cancel(params.sessionId));
}

/** Answers `initialize` before anything else is loaded. */
function initializeResponse({ clientCapabilities }: InitializeRequest, version: string): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "tandem", title: "Tandem", version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, embeddedContext: true, audio: false },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, fork: {} },
    },
    authMethods: [
      {
        id: "claude-code",
        name: "Claude Code's own login or key",
        description: "Uses the credential that `tandem status` names. To log in: run `tandem login`.",
      },
      ...(clientCapabilities?.auth?.terminal
        ? [
            {
              type: "terminal" as const,
              id: "setup",
              name: "Set up Tandem",
              description: "Choose the backend and the credential.",
              args: ["--setup"],
            },
          ]
        : []),
    ],
  };
}
