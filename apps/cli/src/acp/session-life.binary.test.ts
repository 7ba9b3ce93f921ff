import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  methods,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk/unstable";
import { reply, text, toolUse, type ModelRequest, type Reply } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { foldUpdates, setAcpStage, type AcpStage } from "./testing/acp-stage.ts";

const PLAN = "# The plan\n\n1. Look around\n2. Fix it";
const MCP_SERVER = fileURLToPath(
  new URL("../../../../packages/sessions/src/testing/mcp-stdio-server.ts", import.meta.url),
);

async function stageOf(): Promise<AcpStage> {
  let folder = "";
  const stage = await setAcpStage(({ lastUserText, messages }: ModelRequest): Reply => {
    const content = messages.at(-1)?.content;
    if (Array.isArray(content) && content.at(-1)?.type === "tool_result") {
      return text(`The tool said: ${JSON.stringify(content.at(-1))}`);
    }
    if (lastUserText.includes("plan")) return reply([toolUse("ExitPlanMode", { plan: PLAN })]);
    if (lastUserText.includes("write")) {
      return reply([toolUse("Write", { file_path: join(folder, "made.txt"), content: "made\n" })]);
    }
    if (lastUserText.includes("say")) return reply([toolUse("mcp__My_Server__look", { words: "to the editor" })]);
    return text(`You said: ${lastUserText}`);
  });
  folder = stage.folder;
  return stage;
}

const chosen = (optionId: string): RequestPermissionResponse => ({ outcome: { outcome: "selected", optionId } });

test("a plan is shown in full, with the modes to continue in as options", async () => {
  await using stage = await stageOf();
  const asked: RequestPermissionRequest[] = [];
  const editor = await stage.editor({
    onPermission: async (request) => {
      asked.push(request);
      return chosen("acceptEdits");
    },
  });
  const session = await editor.begin();
  await editor.agent.request(methods.agent.session.setMode, { sessionId: session, modeId: "plan" });
  expect(await editor.say(session, "make a plan")).toBe("end_turn");
  expect(JSON.stringify(asked[0]!.toolCall.content)).toContain("2. Fix it");
  expect(asked[0]!.toolCall.kind).toBe("switch_mode");
  expect(asked[0]!.options.map(({ optionId }) => optionId)).toEqual(
    expect.arrayContaining(["default", "acceptEdits", "reject"]),
  );
  const mode = await editor.until((update) => update.sessionUpdate === "current_mode_update");
  expect(mode).toMatchObject({ currentModeId: "acceptEdits" });
  const options = await editor.until(
    (update) =>
      update.sessionUpdate === "config_option_update" &&
      JSON.stringify(update).includes('"currentValue":"acceptEdits"'),
  );
  expect(options).toBeDefined();
  expect(editor.schema.wrong).toEqual([]);
});

test("an approval that is pending when the editor disconnects is asked again in the next one", async () => {
  await using stage = await stageOf();
  const asked = Promise.withResolvers<void>();
  const leaving = await stage.editor({
    onPermission: async () => {
      asked.resolve();
      return new Promise<RequestPermissionResponse>(() => undefined);
    },
  });
  const session = await leaving.begin();
  void leaving.say(session, "please write").catch(() => undefined);
  // Disconnect immediately: a disconnect at the moment of the request is no cancellation.
  await asked.promise;
  await leaving[Symbol.asyncDispose]();
  expect(await stage.processes()).toEqual([]);

  // Open the session with and without history until it is answered.
  const repeated = Promise.withResolvers<RequestPermissionRequest>();
  const looking = await stage.editor({
    onPermission: async (request) => {
      repeated.resolve(request);
      return new Promise<RequestPermissionResponse>(() => undefined);
    },
  });
  await looking.agent.request(methods.agent.session.resume, { sessionId: session, cwd: stage.folder });
  expect((await repeated.promise).toolCall).toMatchObject({ rawInput: { content: "made\n" } });
  await looking[Symbol.asyncDispose]();

  const answered: RequestPermissionRequest[] = [];
  const later = await stage.editor({
    onPermission: async (request) => {
      answered.push(request);
      return chosen("allow");
    },
  });
  await later.agent.request(methods.agent.session.load, { sessionId: session, cwd: stage.folder, mcpServers: [] });
  await later.until((update) => update.sessionUpdate === "agent_message_chunk");
  expect(answered).toEqual([await repeated.promise]);
  expect(await readFile(join(stage.folder, "made.txt"), "utf8")).toBe("made\n");
  for (const { schema } of [leaving, looking, later]) expect(schema.wrong).toEqual([]);
});

test("the editor's MCP servers serve its session, and their secrets are stored nowhere", async () => {
  await using stage = await stageOf();
  const description = join(stage.project, "look.txt");
  await writeFile(description, "Looks.");
  const asked: RequestPermissionRequest[] = [];
  const editor = await stage.editor({
    onPermission: async (request) => {
      asked.push(request);
      return chosen("allow");
    },
  });
  const { sessionId } = await editor.agent.request(methods.agent.session.new, {
    cwd: stage.folder,
    mcpServers: [
      {
        name: "My Server",
        command: process.execPath,
        args: [MCP_SERVER, description],
        env: [{ name: "SERVER_SECRET", value: "made-up-secret-of-the-editor" }],
      },
    ],
  });
  // Opening a session starts no process.
  expect(await stage.processes()).toEqual([]);
  expect(await editor.say(sessionId, "say it")).toBe("end_turn");
  expect(asked[0]!.toolCall).toMatchObject({ name: "mcp__My_Server__look", rawInput: { words: "to the editor" } });
  const { messages } = foldUpdates(editor.updates.map(({ update }) => update));
  expect(messages.join("\n")).toContain("to the editor");
  expect(messages.join("\n")).toContain("SERVER_SECRET");
  await editor[Symbol.asyncDispose]();
  expect(await stage.processes()).toEqual([]);
  const stored = await readFile(join(stage.variables["TANDEM_HOME"]!, "tandem.db"), "latin1");
  expect(stored).toContain("to the editor");
  expect(stored).not.toContain("made-up-secret-of-the-editor");
  expect(editor.schema.wrong).toEqual([]);
});
