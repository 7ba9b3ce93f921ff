import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { MessagesProxy } from "@tandem/protocol";
import { reply, startRehearsal, text, thinking, toolUse } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { startEmulator } from "../start-emulator.ts";
import { emulatedSession } from "../testing/emulated-session.ts";
import { forkCassette } from "./fork-cassette.ts";
import { replayCassette } from "./replay-cassette.ts";
import { answeredTurn, ASKING, CUSTOM, exported, QUESTION } from "./testing/recorded-sessions.ts";

test("a session of Claude Code replays identically without a process and with real tools", async () => {
  await using emulator = await startEmulator({
    claudeCode: true,
    script: [
      reply([
        thinking("Let me see."),
        text("I look."),
        toolUse("Bash", { command: "cat start.txt > copy.txt; pwd" }, { id: "toolu_1" }),
        toolUse("Bash", { command: "echo never" }, { id: "toolu_2" }),
        toolUse("Read", { file_path: "nowhere.txt" }, { id: "toolu_3" }),
        toolUse("Nonsense", {}, { id: "toolu_4" }),
      ]),
      reply([toolUse("mcp__tandem__lookup", { word: "tandem" }), toolUse("AskUserQuestion", QUESTION)]),
      toolUse("Bash", { command: "echo oh no; exit 3" }),
      text("It failed."),
      toolUse("Write", { file_path: "sub/new.txt", content: "fresh\n" }),
      text("Written."),
    ],
  });
  await writeFile(join(emulator.folder, "start.txt"), "hello\n");
  const session = await emulatedSession(emulator, [...ASKING!, ...CUSTOM!]);
  const denied = new Set<string>();
  const turn = (words: string) =>
    answeredTurn(session, words, ({ name, event, input }) => {
      if (JSON.stringify(input).includes("echo never")) {
        denied.add(event);
        return { type: "user.tool_confirmation", tool_use_id: event, result: "deny", deny_message: "Not this one." };
      }
      if (name !== "lookup" && name !== "ask_user_question") {
        return { type: "user.tool_confirmation", tool_use_id: event, result: "allow" };
      }
      const content = [{ type: "text" as const, text: name === "lookup" ? "A bicycle for two." : "Left" }];
      return { type: "user.custom_tool_result", custom_tool_use_id: event, content };
    });
  await turn("Look around.");
  await turn("Write a file.");
  expect(denied.size).toBe(1);
  const cassette = await exported(emulator, session.id);
  expect(cassette.folder).toMatchObject({ type: "bundle", before: { files: 1 }, after: { files: 3 } });

  expect((await replayCassette(cassette)).divergence).toBeUndefined();
  const real = await replayCassette(cassette, { mode: "real_tools" });
  expect(real.divergence).toBeUndefined();
  expect(real.run?.folder).toMatchObject({ after: cassette.folder.type === "bundle" ? cassette.folder.after : {} });
});

test("a fork asks a live model after the step, with real tools and the recorded steps before it", async () => {
  await using emulator = await startEmulator({
    claudeCode: true,
    script: [toolUse("Bash", { command: "echo one > notes.txt" }, { id: "toolu_1" }), text("Done.")],
  });
  const session = await emulatedSession(emulator);
  await session.turn("Write a note.");
  const cassette = await exported(emulator, session.id);

  await using live = await startRehearsal([toolUse("Bash", { command: "cat notes.txt" }), text("It says one.")]);
  const proxy: MessagesProxy = {
    async send({ body, headers, signal }) {
      const given = { ...headers, "content-type": "application/json" };
      const request = { method: "POST", headers: given, body: new Uint8Array(body), signal };
      const response = await fetch(`${live.url}/v1/messages`, request);
      const type = response.headers.get("content-type") ?? "";
      return {
        status: response.status,
        headers: { "content-type": type },
        body: response.body!,
        usage: () => undefined,
      };
    },
  };
  const step = cassette.steps.findLast(({ kind }) => kind === "model")!.step;
  const fork = await forkCassette(cassette, { step }, { mode: "real_tools", live: proxy });
  expect(live.modelRequests[0]?.toolResults).toMatchObject([{ toolUseId: "toolu_1" }]);
  const calls = fork.steps.flatMap((each) => (each.kind === "call" ? [JSON.stringify(each.result?.content)] : []));
  expect(calls).toHaveLength(2);
  expect(calls[1]).toContain("one");
  expect(JSON.stringify(fork.steps)).toContain("It says one.");
  expect((await replayCassette(fork)).divergence).toBeUndefined();
  await expect(forkCassette(cassette, { step }, { live: proxy })).rejects.toMatchObject({ code: "usage" });
});
