import { existsSync } from "node:fs";
import { join } from "node:path";
import { client, type ClientConnection, type SessionUpdate } from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { stallMidStream, text, toolUse } from "@tandem/rehearsal";
import { afterAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { setJudgeStage } from "../../testing/judge-stage.ts";

// The official clients against a server with the real engine, the real Claude Code and a rehearsed model.

const stage = await setJudgeStage();
afterAll(() => stage[Symbol.asyncDispose]());

const authorization = (secret: string) => ({ authorization: `Bearer ${secret}` });
const transports = {
  "Streamable HTTP": (secret: string) =>
    createHttpStream(`${stage.server.url}/acp`, { headers: authorization(secret) }),
  WebSocket: (secret: string) =>
    createWebSocketStream(`${stage.server.url.replace("http", "ws")}/acp`, {
      headers: authorization(secret),
      WebSocket,
    }),
};

interface Editor extends Disposable {
  connection: ClientConnection;
  updates: SessionUpdate[];
  asked: string[];
}

async function edit(open: (secret: string) => ReturnType<typeof createHttpStream>, secret: string): Promise<Editor> {
  const updates: SessionUpdate[] = [];
  const asked: string[] = [];
  const app = client({ name: "editor" })
    .onNotification("session/update", ({ params }) => void updates.push(params.update))
    .onRequest("session/request_permission", ({ params }) => {
      asked.push(params.toolCall.title ?? "");
      const { optionId } = params.options.find(({ kind }) => kind === "allow_once")!;
      return { outcome: { outcome: "selected", optionId } };
    });
  const connection = app.connect(open(secret));
  await connection.agent.request("initialize", { protocolVersion: 1 });
  return { connection, updates, asked, [Symbol.dispose]: () => connection.close() };
}

const begin = ({ connection }: Editor, cwd: string, mcpServers: [] | [object] = []) =>
  connection.agent.request("session/new", { cwd, mcpServers: mcpServers as [] });
const say = ({ connection }: Editor, sessionId: string, words: string) =>
  connection.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: words }] });
const said = ({ updates }: Editor): string =>
  updates
    .map((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? update.content.text : "",
    )
    .join("");

describe.each(Object.entries(transports))("over %s", (name, open) => {
  test("a conversation with an approval works in a session that the API shows; a cancelled turn does not end it", async () => {
    const file = `${name.replaceAll(" ", "-")}.txt`;
    const path = join(stage.folder, file);
    stage.rehearsal.use([toolUse("Write", { file_path: path, content: "by an editor" }), text("It is written.")]);
    using editor = await edit(open, await stage.server.secretFor("run"));
    const { sessionId } = await begin(editor, stage.folder);
    expect(await say(editor, sessionId, "Write it.")).toMatchObject({ stopReason: "end_turn" });
    expect(editor.asked.length).toBe(1);
    expect(existsSync(path)).toBe(true);
    await expect.poll(() => said(editor)).toContain("It is written.");
    const statuses = editor.updates.flatMap((update) =>
      update.sessionUpdate === "tool_call_update" || update.sessionUpdate === "tool_call" ? [update.status] : [],
    );
    expect(statuses).toContain("completed");
    const { data } = await stage.client.beta.sessions.list({ limit: 5 });
    expect(data.map(({ id }) => id)).toContain(sessionId);

    stage.rehearsal.use([stallMidStream("A long answer that is"), text("Here.")]);
    const prompting = say(editor, sessionId, "Talk.");
    await expect.poll(() => said(editor)).toContain("A long");
    await editor.connection.agent.notify("session/cancel", { sessionId });
    expect(await prompting).toMatchObject({ stopReason: "cancelled" });
    expect(await say(editor, sessionId, "Still there?")).toMatchObject({ stopReason: "end_turn" });
  });

  test("a folder outside the server's roots is refused, and so is a stdio MCP server without `admin`", async () => {
    using editor = await edit(open, await stage.server.secretFor("run"));
    await expect(begin(editor, "/")).rejects.toMatchObject({ message: expect.stringMatching(/folder|root/i) });
    const program = { name: "mine", command: "/bin/sh", args: ["-c", "touch /tmp/never"], env: [] };
    await expect(begin(editor, stage.folder, [program])).rejects.toMatchObject({
      message: expect.stringContaining("programs"),
    });
  });
});
