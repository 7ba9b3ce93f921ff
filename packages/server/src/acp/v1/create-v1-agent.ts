import {
  agent,
  methods,
  RequestError as WireRequestError,
  type AgentApp,
  type AgentContext,
  type ClientCapabilities,
} from "@agentclientprotocol/sdk/unstable";
import type { AcpDesk } from "../acp-desk.ts";
import type { AcpParts } from "../create-acp-agent.ts";
import { initializeResponse } from "./initialize-response.ts";
import type * as V1Words from "./v1-room.ts";
import type { V1Room } from "./v1-room.ts";

/** Version 1 of the protocol: its requests, put to the desk. */
export function createV1Agent(parts: AcpParts): AgentApp {
  let client: AgentContext | undefined;
  let gone: AbortSignal | undefined;
  let capabilities: ClientCapabilities = {};
  let room: V1Room | undefined;
  let opening: Promise<V1Room> | undefined;

  /** All that initialize does not need is loaded while the client reads the answer to it. */
  const open = (): Promise<V1Room> =>
    (opening ??= (async () => {
      const [{ V1Room: Opened }, engine] = await Promise.all([import("./v1-room.ts"), parts.engine]);
      return (room = new Opened(parts, engine, client!, capabilities));
    })());

  /** What went wrong, in the protocol's words. */
  const answer = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof WireRequestError) throw error;
      const { UNFORESEEN, wireError } = await import("../acp-error.ts");
      const told = wireError(error);
      if (told) throw new WireRequestError(told.code, told.message, told.data);
      parts.onFailure?.(error, "a request");
      throw new WireRequestError(UNFORESEEN.code, UNFORESEEN.message);
    }
  };
  const atDesk = <T>(work: (desk: AcpDesk) => Promise<T>): Promise<T> => answer(async () => work((await open()).desk));
  const inRoom = <T>(work: (desk: AcpDesk, words: typeof V1Words) => Promise<T>): Promise<T> =>
    atDesk(async (desk) => work(desk, await import("./v1-room.ts")));

  return agent({ name: "tandem" })
    .onConnect((connection) => {
      client = connection.client;
      gone = connection.signal;
      void connection.closed.finally(() => room?.desk.leave());
    })
    .onRequest(methods.agent.initialize, ({ params }) => {
      capabilities = params.clientCapabilities ?? {};
      // A failure is told to whoever asks for a session.
      open().catch(() => undefined);
      return initializeResponse(params, parts.version);
    })
    .onRequest(methods.agent.authenticate, () =>
      answer(async () => {
        await parts.checkLogin?.();
        return {};
      }),
    )
    .onRequest(methods.agent.session.new, ({ params }) =>
      inRoom(async (at, { wanted, settingsView }) => {
        const { id, settings } = await at.begin(wanted(params));
        return { sessionId: id, ...settingsView(settings) };
      }),
    )
    .onRequest(methods.agent.session.load, ({ params }) =>
      inRoom(async (at, { wanted, settingsView }) =>
        settingsView((await at.load(params.sessionId, wanted(params))).settings),
      ),
    )
    .onRequest(methods.agent.session.resume, ({ params }) =>
      inRoom(async (at, { wanted, settingsView }) =>
        settingsView((await at.resume(params.sessionId, wanted(params))).settings),
      ),
    )
    .onRequest(methods.agent.session.fork, ({ params }) =>
      inRoom(async (at, { wanted, settingsView }) => {
        const { id, settings } = await at.fork(params.sessionId, wanted(params));
        return { sessionId: id, ...settingsView(settings) };
      }),
    )
    .onRequest(methods.agent.session.list, ({ params: { cwd, cursor } }) =>
      atDesk(async (at) => {
        const { sessions, next } = await at.list({ ...(cwd && { folder: cwd }), ...(cursor && { cursor }) });
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
      atDesk(async (at) => {
        await at.close(params.sessionId);
        return {};
      }),
    )
    .onRequest(methods.agent.session.delete, ({ params }) =>
      atDesk(async (at) => {
        await at.delete(params.sessionId);
        return {};
      }),
    )
    .onRequest(methods.agent.session.setMode, ({ params }) =>
      atDesk(async (at) => {
        await at.set(params.sessionId, "mode", params.modeId);
        return {};
      }),
    )
    .onRequest(methods.agent.session.setConfigOption, ({ params }) =>
      inRoom(async (at, { settingsView }) => {
        const settings = await at.set(params.sessionId, params.configId, String(params.value));
        return { configOptions: settingsView(settings).configOptions };
      }),
    )
    .onRequest(methods.agent.session.prompt, ({ params, signal }) =>
      answer(async () => {
        // Without a wait before it, where the session is open: a cancellation that comes next must find the prompt.
        const prompt = (room ?? (await open())).prompt(params);
        // A client that has gone has cancelled nothing.
        const cancel = (): void => void (gone?.aborted || room?.desk.cancel(params.sessionId));
        signal.addEventListener("abort", cancel, { once: true });
        const outcome = await prompt.outcome;
        const { promptResponse } = await import("./v1-room.ts");
        return promptResponse(outcome);
      }),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => room?.desk.cancel(params.sessionId));
}
