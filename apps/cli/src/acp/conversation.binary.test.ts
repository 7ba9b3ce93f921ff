import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { methods, type RequestPermissionRequest, type SessionUpdate } from "@agentclientprotocol/sdk/unstable";
import { reply, slowly, text, toolUse, type ModelRequest, type Reply } from "@tandem/rehearsal";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { foldUpdates, setAcpStage, type AcpStage, type Editor, type EditorOptions } from "./testing/acp-stage.ts";

const CHOSEN = (optionId: string) => ({ outcome: { outcome: "selected" as const, optionId } });

/** Repeats its input and the results of its tools. */
const parrot =
  (folder: () => string) =>
  ({ lastUserText, toolResults, messages }: ModelRequest): Reply => {
    const content = messages.at(-1)?.content;
    // A message after the call takes precedence over the tool result.
    const isResult = Array.isArray(content) && content.at(-1)?.type === "tool_result";
    if (isResult) return text(`The tool said: ${toolResults.at(-1)!.text}`);
    if (lastUserText.includes("touch")) {
      return reply([
        text("I touch."),
        toolUse("Bash", { command: "echo hi > made; echo touched", description: "Touch" }),
      ]);
    }
    if (lastUserText.includes("write")) {
      return reply([toolUse("Write", { file_path: join(folder(), "new.txt"), content: "one\ntwo\n" })]);
    }
    if (lastUserText.includes("endless")) {
      return reply([toolUse("Bash", { command: "tail -F nothing", description: "Wait" })]);
    }
    if (lastUserText.includes("slow")) return slowly(text("word ".repeat(400)), { tokenMs: 40 });
    if (lastUserText.includes("ask")) {
      const options = [
        { label: "Red", description: "Like a rose" },
        { label: "Blue", description: "Like the sky" },
      ];
      return reply([
        toolUse("AskUserQuestion", {
          questions: [{ question: "Which colour?", header: "Colour", options, multiSelect: false }],
        }),
      ]);
    }
    return text(`You said: ${lastUserText}`);
  };

async function stageOf(): Promise<AcpStage> {
  let folder = "";
  const stage = await setAcpStage(parrot(() => folder));
  folder = stage.folder;
  return stage;
}

const statuses = (updates: readonly SessionUpdate[]): string[] =>
  updates.flatMap((update) =>
    update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update" ? [update.status ?? ""] : [],
  );

describe("an editor and its agent", () => {
  test("can prompt, approve a write and load the session again, with messages that match the schema", async () => {
    await using stage = await stageOf();
    const asked: RequestPermissionRequest[] = [];
    const editor = await stage.editor({
      onPermission: async (request) => {
        asked.push(request);
        return CHOSEN("allow");
      },
    });
    const session = await editor.begin();
    expect(await editor.say(session, "hello")).toBe("end_turn");
    expect(await editor.say(session, "please write")).toBe("end_turn");
    expect(await readFile(join(stage.folder, "new.txt"), "utf8")).toBe("one\ntwo\n");

    // The request contains everything needed to decide.
    const path = join(stage.folder, "new.txt");
    expect(asked).toHaveLength(1);
    expect(asked[0]!.toolCall).toMatchObject({
      kind: "edit",
      status: "pending",
      rawInput: { file_path: path, content: "one\ntwo\n" },
      locations: [{ path }],
      content: expect.arrayContaining([expect.objectContaining({ type: "diff", path, newText: "one\ntwo" })]),
    });
    expect(asked[0]!.options.map(({ optionId, kind }) => [optionId, kind])).toEqual([
      ["allow", "allow_once"],
      ["allow_session", "allow_always"],
      ["allow_always", "allow_always"],
      ["reject", "reject_once"],
    ]);
    expect(asked[0]!.options[1]!.name).toContain("Write(./new.txt)");

    const live = editor.updates.map(({ update }) => update);
    expect(statuses(live).filter((status, index, all) => status !== all[index - 1])).toEqual([
      "pending",
      "in_progress",
      "completed",
    ]);
    const usage = live.findLast((update) => update.sessionUpdate === "usage_update");
    expect(usage).toMatchObject({ size: 1_000_000, cost: { currency: "USD", amount: expect.any(Number) } });
    expect(await editor.until((update) => update.sessionUpdate === "session_info_update")).toMatchObject({
      title: "hello",
    });
    const commands = await editor.until((update) => update.sessionUpdate === "available_commands_update");
    expect(JSON.stringify(commands)).toContain('"compact"');

    // A second editor gets the history before the response, equal to what was streamed.
    await editor[Symbol.asyncDispose]();
    expect(await stage.processes()).toEqual([]);
    const later = await stage.editor();
    const { sessions } = await later.agent.request(methods.agent.session.list, { cwd: stage.folder });
    expect(sessions).toMatchObject([{ sessionId: session, cwd: stage.folder, title: "hello" }]);
    await later.agent.request(methods.agent.session.load, { sessionId: session, cwd: stage.folder, mcpServers: [] });
    const replayed = foldUpdates(later.updates.map(({ update }) => update));
    const streamed = foldUpdates(live);
    const words = (messages: string[]) => messages.filter((line) => !line.startsWith("user_"));
    expect(words(replayed.messages)).toEqual(words(streamed.messages));
    expect(replayed.messages.filter((line) => line.startsWith("user_")).map((line) => line.split(": ")[1])).toEqual([
      "hello",
      "please write",
    ]);
    expect(replayed.calls).toEqual(streamed.calls);
    expect(await later.say(session, "and now")).toBe("end_turn");

    // Resume continues the session without a replay.
    const resumed = await stage.editor();
    await later[Symbol.asyncDispose]();
    await resumed.agent.request(methods.agent.session.resume, { sessionId: session, cwd: stage.folder });
    expect(foldUpdates(resumed.updates.map(({ update }) => update)).messages).toEqual([]);
    const { sessionId: forked } = await resumed.agent.request(methods.agent.session.fork, {
      sessionId: session,
      cwd: stage.folder,
    });
    expect(forked).not.toBe(session);
    await resumed.agent.request(methods.agent.session.close, { sessionId: forked });
    await resumed.agent.request(methods.agent.session.delete, { sessionId: forked });
    await resumed.agent.request(methods.agent.session.delete, { sessionId: forked });
    const left = await resumed.agent.request(methods.agent.session.list, {});
    expect(left.sessions.map(({ sessionId }) => sessionId)).toEqual([session]);

    for (const { schema } of [editor, later, resumed]) expect(schema.wrong).toEqual([]);
    expect(editor.schema.checked).toBeGreaterThan(15);
  });
});

describe("one session of an editor", () => {
  let stage: AcpStage;
  let editor: Editor;
  let session: string;
  let onPermission: NonNullable<EditorOptions["onPermission"]>;
  const forms: unknown[] = [];
  beforeAll(async () => {
    stage = await stageOf();
    editor = await stage.editor({
      capabilities: { elicitation: { form: {} } },
      onPermission: (request, signal) => onPermission(request, signal),
      onForm: async (form) => {
        forms.push(form);
        return { action: "accept", content: { question_1: "Blue" } };
      },
    });
    session = await editor.begin();
  });
  // Each test looks at its own updates.
  beforeEach(() => void editor.updates.splice(0));
  afterAll(() => stage[Symbol.asyncDispose]());

  test("questions arrive as a form, or as choices if the client has no forms", async () => {
    expect(await editor.say(session, "ask me")).toBe("end_turn");
    expect(forms).toMatchObject([
      {
        mode: "form",
        sessionId: session,
        message: "Which colour?",
        requestedSchema: {
          properties: {
            question_1: {
              type: "string",
              oneOf: [
                { const: "Red", description: "Like a rose" },
                { const: "Blue", description: "Like the sky" },
              ],
            },
          },
        },
      },
    ]);
    const said = foldUpdates(editor.updates.map(({ update }) => update)).messages.join("\n");
    expect(said).toContain("Blue");

    const asked: RequestPermissionRequest[] = [];
    const plain = await stage.editor({
      onPermission: async (request) => {
        asked.push(request);
        return CHOSEN("option_0");
      },
    });
    const other = await plain.begin();
    expect(await plain.say(other, "ask me")).toBe("end_turn");
    expect(asked[0]!.options.map(({ name }) => name)).toEqual(["Red", "Blue", "Skip"]);
    expect(JSON.stringify(asked[0]!.toolCall.content)).toContain("Like the sky");
    expect(foldUpdates(plain.updates.map(({ update }) => update)).messages.join("\n")).toContain("Red");
    expect([...editor.schema.wrong, ...plain.schema.wrong]).toEqual([]);
  });

  test("modes and config options show the same state, and change which calls need approval", async () => {
    let asked = 0;
    onPermission = async () => {
      asked += 1;
      return CHOSEN("no such option");
    };
    // An option that was not offered denies the call.
    expect(await editor.say(session, "please write")).toBe("end_turn");
    expect(asked).toBe(1);
    await expect(readFile(join(stage.folder, "new.txt"), "utf8")).rejects.toThrow("ENOENT");

    await editor.agent.request(methods.agent.session.setMode, { sessionId: session, modeId: "acceptEdits" });
    expect(await editor.say(session, "please write")).toBe("end_turn");
    expect(asked).toBe(1);
    expect(await readFile(join(stage.folder, "new.txt"), "utf8")).toBe("one\ntwo\n");

    const setOption = (configId: string, value: string) =>
      editor.agent.request(methods.agent.session.setConfigOption, { sessionId: session, configId, value });
    const { configOptions } = await setOption("mode", "default");
    expect(configOptions.find(({ id }) => id === "mode")).toMatchObject({ currentValue: "default" });
    const models = configOptions.find(({ id }) => id === "model");
    const haiku = (models as { options: { value: string }[] }).options.find(({ value }) => value.includes("haiku"));
    await setOption("model", haiku!.value);
    await setOption("effort", "low");
    await editor.say(session, "hello");
    expect(stage.rehearsal.modelRequests.at(-1)!.model).toContain("haiku");
    await expect(
      editor.agent.request(methods.agent.session.setMode, { sessionId: session, modeId: "yolo" }),
    ).rejects.toThrow("There is no mode");
    expect(editor.schema.wrong).toEqual([]);
  });

  test("cancel ends a turn during text, a command and a question, and affects no other turn", async () => {
    let waiting: (() => void) | undefined;
    const taken: boolean[] = [];
    onPermission = async ({ toolCall }, signal) => {
      if (toolCall.title?.includes("tail")) return CHOSEN("allow");
      waiting?.();
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          taken.push(true);
          resolve({ outcome: { outcome: "cancelled" } });
        });
      });
    };
    const cancel = () => editor.agent.notify(methods.agent.session.cancel, { sessionId: session });
    await cancel();
    const words = editor.say(session, "slow");
    await editor.until((update) => update.sessionUpdate === "agent_message_chunk");
    await cancel();
    expect(await words).toBe("cancelled");

    const command = editor.say(session, "endless");
    await editor.until((update) => update.sessionUpdate === "tool_call_update" && update.status === "in_progress");
    await cancel();
    expect(await command).toBe("cancelled");
    // No call is left open.
    expect(foldUpdates(editor.updates.map(({ update }) => update)).calls).toMatchObject([{ status: "failed" }]);

    const asked = new Promise<void>((resolve) => (waiting = resolve));
    const question = editor.say(session, "please write");
    await asked;
    await cancel();
    expect(await question).toBe("cancelled");
    expect(await editor.say(session, "hello")).toBe("end_turn");
    expect(taken).toEqual([true]);
    expect(editor.schema.wrong).toEqual([]);
  });
});
