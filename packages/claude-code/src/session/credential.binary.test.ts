import { readFile } from "node:fs/promises";
import { text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import type { Credential } from "../credential.ts";
import { setStage } from "../testing/claude-stage.ts";
import { openSession } from "./testing/open-session.ts";

const stage = await setStage();
afterAll(() => stage[Symbol.asyncDispose]());

const SECRET = "sk-ant-made-up-key";
const look = "env; tr '\\0' '\\n' < /proc/$PPID/environ; cat /proc/$PPID/fd/3; echo looked";

test.each<[string, () => Credential, string, string]>([
  ["an API key", () => stage.apiKey, "x-api-key", SECRET],
  ["a token", () => ({ type: "oauth_token", token: SECRET }), "authorization", `Bearer ${SECRET}`],
])("%s reaches the model's API, but no command that Claude runs", async (_, credential, header, value) => {
  stage.rehearsal.use([toolUse("Bash", { command: look }), text("Seen.")]);
  await using session = openSession(stage, { credential: credential() });
  expect(await session.turn("What can you see?")).toMatchObject({ stop: "end_turn" });
  expect(stage.rehearsal.modelRequests.map(({ headers }) => headers[header])).toEqual([value, value]);
  const [result] = session.events("agent.tool_result");
  expect(JSON.stringify(result)).toContain("looked");
  expect(JSON.stringify(session.outputs)).not.toContain(SECRET);
  if (process.platform !== "linux") return;
  expect(await readFile(`/proc/${session.conversation.pid}/environ`, "utf8")).not.toContain(SECRET);
});
