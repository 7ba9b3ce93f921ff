import { client, type ClientConnection } from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { afterAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { startTestServer } from "../../testing/start-test-server.ts";
import { thinAcpAgents } from "../../testing/thin-acp-agent.ts";

// The protocol's official clients, unmodified.

const engine = new MemoryEngine();
const agents = thinAcpAgents(engine);
let server = await startTestServer({ engine: engine.engine, acp: agents.connect });
afterAll(() => server[Symbol.asyncDispose]());

const streams = {
  "Streamable HTTP": (secret: string) =>
    createHttpStream(`${server.url}/acp`, { headers: { authorization: `Bearer ${secret}` } }),
  WebSocket: (secret: string) =>
    createWebSocketStream(`${server.url.replace("http", "ws")}/acp`, {
      headers: { authorization: `Bearer ${secret}` },
      WebSocket,
    }),
};

describe.each(Object.entries(streams))("over %s", (_name, open) => {
  interface Editor extends AsyncDisposable {
    connection: ClientConnection;
    texts: string[];
  }

  async function edit(secret = server.secret): Promise<Editor> {
    const texts: string[] = [];
    const app = client({ name: "editor" })
      .onNotification("session/update", ({ params: { update } }) => {
        if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") {
          texts.push(update.content.text);
        }
      })
      .onRequest("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "yes" } }));
    const connection = app.connect(open(secret));
    await connection.agent.request("initialize", { protocolVersion: 1 });
    return {
      connection,
      texts,
      async [Symbol.asyncDispose]() {
        connection.close();
        await expect.poll(() => agents.over).toBe(agents.begun);
      },
    };
  }

  const begin = async ({ connection }: Editor): Promise<string> =>
    (await connection.agent.request("session/new", { cwd: "/", mcpServers: [] })).sessionId;
  const say = ({ connection }: Editor, sessionId: string, text: string) =>
    connection.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });

  test("a conversation arrives complete and in order", async () => {
    await using editor = await edit();
    const session = await begin(editor);
    expect(await say(editor, session, "count 200")).toEqual({ stopReason: "end_turn" });
    await expect.poll(() => editor.texts.length).toBe(200);
    expect(editor.texts).toEqual(Array.from({ length: 200 }, (_, index) => String(index + 1)));
  });

  test("the agent's request reaches the client, and the answer reaches the agent", async () => {
    await using editor = await edit();
    const session = await begin(editor);
    await say(editor, session, "ask");
    await expect.poll(() => editor.texts).toEqual(["yes"]);
  });

  test("two sessions of one connection do not block each other", async () => {
    await using editor = await edit();
    const [one, two] = [await begin(editor), await begin(editor)];
    const waiting = say(editor, one, "never");
    expect(await say(editor, two, "count 1")).toEqual({ stopReason: "end_turn" });
    await editor.connection.agent.notify("session/cancel", { sessionId: one });
    expect(await waiting).toEqual({ stopReason: "cancelled" });
  });

  test("a connection can load a session that another connection created", async () => {
    await using editor = await edit();
    await editor.connection.agent.request("session/load", {
      sessionId: engine.createSession(),
      cwd: "/",
      mcpServers: [],
    });
    await expect.poll(() => editor.texts).toEqual(["as it was"]);
  });

  test("a message of one megabyte is accepted", async () => {
    await using editor = await edit();
    await say(editor, await begin(editor), "long");
    await expect.poll(() => editor.texts.map(({ length }) => length)).toEqual([1_024 * 1_024]);
  });

  test("a connection without a token or with a read-only token is refused", async () => {
    for (const secret of ["", "tandem_guess", await server.secretFor("read")]) {
      await expect(edit(secret)).rejects.toThrow(/401|403/);
    }
    expect(agents.over).toBe(agents.begun);
  });

  test("a server that stops closes the connection", async () => {
    await using other = await startTestServer({ engine: engine.engine, acp: agents.connect });
    const before = server;
    server = other;
    try {
      const editor = await edit();
      const waiting = say(editor, await begin(editor), "never");
      const outcome = waiting.then(
        () => "answered",
        () => "failed",
      );
      await other.close(1_000);
      expect(await outcome).toBe("failed");
      await editor.connection.closed;
      await expect.poll(() => agents.over).toBe(agents.begun);
    } finally {
      server = before;
    }
  });
});
