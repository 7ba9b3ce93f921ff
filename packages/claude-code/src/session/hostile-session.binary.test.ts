import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { always, madeUpLogin, startRehearsal, text, toolUse } from "@tandem/rehearsal";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { Credential } from "../credential.ts";
import { MARK, plantHostileHome } from "../testing/hostile-home.ts";
import { call, setStage } from "../testing/claude-stage.ts";
import { DENIED_VARIABLES } from "../variables.ts";
import { openSession, type OpenSession } from "./testing/open-session.ts";

/**
 * Proof on the wire: a home and a project full of hooks, servers, plugins, skills, memories and settings that name
 * other keys and hosts. The session must be billed to its own credential, and only the text of CLAUDE.md may reach the
 * model.
 */
const WORDS = "Always use tabs, as the pelican does.";

const stage = await setStage();
const elsewhere = await startRehearsal([always(text("from elsewhere"))]);
const evidence = join(stage.home, "evidence");
const project = join(stage.home, "project");
for (const configDir of [stage.configDir, join(stage.stateFolder, "claude-code")]) {
  await plantHostileHome({ ...stage, configDir, project, evidence, elsewhere: elsewhere.url });
}
await writeFile(join(project, "CLAUDE.md"), WORDS);
const hostile = Object.fromEntries(DENIED_VARIABLES.map((name) => [name.replace(/\*$/, "X"), MARK]));
const hostVariables = {
  ...hostile,
  ANTHROPIC_API_KEY: `sk-ant-${MARK}`,
  ANTHROPIC_BASE_URL: elsewhere.url,
  CLAUDE_CODE_USE_BEDROCK: "1",
  ...stage.hostVariables,
};
afterAll(async () => {
  await elsewhere.close();
  await stage[Symbol.asyncDispose]();
});

const open = (credential: Credential): OpenSession =>
  openSession(stage, { credential, hostVariables, folder: project });

async function expectNothingHostile(): Promise<void> {
  expect(await readdir(evidence), "nothing was executed").toEqual([]);
  expect(JSON.stringify(stage.rehearsal.requests), "nothing was sent").not.toContain(MARK);
  expect(elsewhere.requests, "no request went elsewhere").toEqual([]);
  expect(stage.rehearsal.refused, "no other host was tried").toEqual([]);
}

describe.each([
  ["the login", () => stage.login, /^Bearer sk-ant-oat01-made-up/, undefined],
  ["an API key", () => stage.apiKey, undefined, "sk-ant-made-up-key"],
] as const)("on %s", (_, credential, authorization, apiKey) => {
  beforeEach(() => {
    stage.rehearsal.use([toolUse("Bash", { command: "echo hi" }), text("clean")]);
  });

  test("a session uses its own credential, and reads only CLAUDE.md from disk", async () => {
    await using session = open(credential());
    expect(await session.turn("Go.")).toMatchObject({ stop: "end_turn" });
    for (const { headers, system, toolNames } of stage.rehearsal.modelRequests) {
      if (authorization) expect(headers["authorization"]).toMatch(authorization);
      expect(headers["x-api-key"]).toBe(apiKey);
      expect(system).toContain(WORDS);
      expect(toolNames.filter((name) => name !== "DeferredToolPlaceholder").sort()).toEqual([
        "Bash",
        "Edit",
        "Read",
        "Write",
      ]);
    }
    await expectNothingHostile();
  });
});

test("uses the login of the given config folder, not of the home, and follows no CLAUDE.md link out of the folder", async () => {
  const configDir = join(stage.home, "named");
  const { accessToken } = await madeUpLogin(configDir);
  const folder = join(stage.home, "linked");
  await mkdir(folder);
  await writeFile(join(stage.home, "private.md"), `${MARK} private`);
  await symlink(join(stage.home, "private.md"), join(folder, "CLAUDE.md"));
  stage.rehearsal.use([always(text("paid"))]);
  await using session = openSession(stage, { credential: { type: "login", configDir }, folder });
  await session.turn("Go.");
  expect(JSON.stringify(stage.rehearsal.modelRequests[0]!.body)).not.toContain(MARK);
  await stage.claude({ credential: { type: "login", configDir } }).text(call());
  expect(stage.rehearsal.modelRequests.map(({ headers }) => headers["authorization"])).toEqual(
    Array(2).fill(`Bearer ${accessToken}`),
  );
});
