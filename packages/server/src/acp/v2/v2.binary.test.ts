import { join } from "node:path";
import { readFile } from "node:fs/promises";
import { client as v1Client } from "@agentclientprotocol/sdk";
import {
  client,
  methods,
  type ClientConnection,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk/experimental/v2";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { reply, slowly, text, toolUse } from "@tandem/rehearsal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { setJudgeStage, type JudgeStage } from "../../testing/judge-stage.ts";
import { checkedStream, V2Schema } from "../testing/v2-schema.ts";

// The SDK's own client of version 2, on a server with the real engine and the real Claude Code.

let stage: JudgeStage;
beforeAll(async () => {
  stage = await setJudgeStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const open = (query: string) =>
  createWebSocketStream(`${stage.server.url.replace("http", "ws")}/acp${query}`, {
    headers: { authorization: `Bearer ${stage.server.secret}` },
    WebSocket,
  });

interface Editor extends Disposable {
  connection: ClientConnection;
  schema: V2Schema;
  updates: SessionUpdate[];
  asked: RequestPermissionRequest[];
  /** The states that it has been told of. */
  states(): unknown[];
}

async function edit(): Promise<Editor> {
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const schema = new V2Schema();
  const app = client({ name: "editor" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params);
      // A person is slower than the word that somebody is waited for.
      await expect.poll(() => states().at(-1), WAIT).toEqual({ state: "requires_action" });
      return { outcome: { outcome: "selected", optionId: params.options[0]!.optionId } };
    });
  const connection = app.connect(checkedStream(open("?v2=true"), schema));
  const { protocolVersion } = await connection.agent.request(methods.agent.initialize, {
    protocolVersion: 2,
    info: { name: "editor", version: "1.0.0" },
    capabilities: {},
  });
  expect(protocolVersion).toBe(2);
  const states = (): unknown[] =>
    updates.flatMap((update) => {
      if (update.sessionUpdate !== "state_update") return [];
      const { sessionUpdate: _, ...state } = update;
      return [state];
    });
  return { connection, schema, updates, asked, states, [Symbol.dispose]: () => connection.close() };
}

const say = ({ connection }: Editor, sessionId: string, words: string) =>
  connection.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text: words }] });
const idle = (stopReason: string) => ({ state: "idle", stopReason });
const WAIT = { timeout: 60_000 };

test(
  "a turn is acknowledged, told by states, asked about, replayed and cancelled; every message fits the schema",
  {
    timeout: 240_000,
  },
  async () => {
    const path = join(stage.folder, "second.txt");
    stage.rehearsal.use([
      reply([text("I write."), toolUse("Write", { file_path: path, content: "one\ntwo\n" })]),
      text("It is written."),
      slowly(text("A long answer that nobody wants to hear."), { tokenMs: 500 }),
    ]);
    using editor = await edit();
    const { sessionId, configOptions } = await editor.connection.agent.request(methods.agent.session.new, {
      cwd: stage.folder,
    });
    expect(configOptions?.map(({ configId }) => configId)).toEqual(["mode", "model", "effort"]);

    const { messageId } = await say(editor, sessionId, "Write it.");
    await expect.poll(() => editor.states().at(-1), WAIT).toEqual(idle("end_turn"));
    expect(editor.states()).toEqual([
      { state: "running" },
      { state: "requires_action" },
      { state: "running" },
      idle("end_turn"),
    ]);
    expect(await readFile(path, "utf8")).toBe("one\ntwo\n");
    expect(editor.updates).toContainEqual(
      expect.objectContaining({
        sessionUpdate: "user_message_chunk",
        messageId,
        content: { type: "text", text: "Write it." },
      }),
    );
    expect(editor.asked).toMatchObject([
      { title: expect.stringContaining("second.txt"), subject: { type: "tool_call", toolCall: { status: "pending" } } },
    ]);
    const patch = { format: "git_patch", text: expect.stringContaining(`+++ ${path}\n@@ -0,0 +1,2 @@\n+one\n+two\n`) };
    expect(editor.asked[0]!.subject).toMatchObject({
      toolCall: {
        content: expect.arrayContaining([
          expect.objectContaining({ type: "diff", changes: [{ operation: "add", path }], patch }),
        ]),
      },
    });
    const statuses = editor.updates.flatMap((update) =>
      update.sessionUpdate === "tool_call_update" && update.status ? [update.status] : [],
    );
    expect(new Set(statuses)).toEqual(new Set(["pending", "in_progress", "completed"]));

    // Another client: everything again, or nothing but how things stand.
    using later = await edit();
    const folder = { sessionId, cwd: stage.folder };
    await later.connection.agent.request(methods.agent.session.resume, { ...folder, replayFrom: { type: "start" } });
    await expect.poll(() => later.states().at(-1), WAIT).toEqual(idle("end_turn"));
    expect(JSON.stringify(later.updates)).toContain("It is written.");
    using quiet = await edit();
    await quiet.connection.agent.request(methods.agent.session.resume, folder);
    await expect.poll(() => quiet.states(), WAIT).toEqual([idle("end_turn")]);
    expect(JSON.stringify(quiet.updates)).not.toContain("It is written.");

    await say(quiet, sessionId, "Talk.");
    await expect
      .poll(() => quiet.updates.some(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk"), WAIT)
      .toBe(true);
    await quiet.connection.agent.notify(methods.agent.session.cancel, { sessionId });
    await expect.poll(() => quiet.states().at(-1), WAIT).toEqual(idle("cancelled"));
    // Who watches sees it too.
    await expect.poll(() => editor.states().at(-1), WAIT).toEqual(idle("cancelled"));

    for (const { schema } of [editor, later, quiet]) expect(schema.wrong).toEqual([]);
    expect(editor.schema.checked).toBeGreaterThan(10);
  },
);

test("without the flag, version 1 is spoken whatever is asked for; with it, version 1 still is", async () => {
  for (const [query, wanted] of [
    ["", 2],
    ["?v2=true", 1],
  ] as const) {
    const connection = v1Client({ name: "editor" }).connect(open(query));
    const { protocolVersion } = await connection.agent.request("initialize", { protocolVersion: wanted });
    expect(protocolVersion).toBe(1);
    connection.close();
  }
});
