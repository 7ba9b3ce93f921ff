import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { listenOnLoopback, reply, text, toolUse } from "@tandem/rehearsal";
import { git } from "@tandem/workspace";
import { startGitServer } from "@tandem/workspace/testing";
import { afterAll, expect, test } from "vitest";
import { setEngineStage } from "../testing/engine-stage.ts";
import { allow, isOver, untilAsked } from "../testing/until-asked.ts";
import { pushServer } from "./push-server.ts";

const TOKEN = "ghs_the-bots-token-0123456789";

const stage = await setEngineStage();
afterAll(() => stage[Symbol.asyncDispose]());

/** The part of GitHub's API that opens pull requests. */
async function startGithub() {
  const requests: { path: string; token: string | undefined; body: unknown }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const sent: unknown = body === "" ? undefined : JSON.parse(body);
      requests.push({ path: request.url ?? "", token: request.headers.authorization, body: sent });
      const isNew = request.method === "POST";
      response.writeHead(isNew ? 201 : 200, { "content-type": "application/json" });
      response.end(
        JSON.stringify(isNew ? { number: 7, html_url: "https://github.com/p/7" } : { default_branch: "main" }),
      );
    });
  });
  return { ...(await listenOnLoopback(server)), requests };
}

test("an approved session pushes as a bot; branch and pull request are its result, and the token is nowhere", async () => {
  await using remote = await startGitServer(TOKEN);
  await using github = await startGithub();
  await mkdir(stage.folder, { recursive: true });
  await git(stage.folder, ["init", "--quiet", "--initial-branch=main"]);
  await git(stage.folder, ["config", "remote.origin.url", remote.url]);
  await writeFile(join(stage.folder, "a.txt"), "one\n");
  await git(stage.folder, ["add", "--all"]);
  const settings = { "user.name": "Test", "user.email": "test@example.com" };
  await git(stage.folder, ["commit", "--quiet", "--message", "first"], { settings });
  const bot = { remote: remote.url, token: async () => TOKEN, name: "Acme Bot", email: "bot@example.com" };
  const engine = await stage.open({ bots: [{ ...bot, api: github.url }] });
  const session = await engine.session({ metadata: { "tandem.requester": "Ann <ann@example.com>" } });
  await writeFile(join(stage.folder, "a.txt"), "two\n");
  stage.rehearsal.use([
    reply([toolUse("mcp__repository__push_changes", { title: "Fix the sum", branch: "fix-sum" })]),
    text("Pushed."),
  ]);
  const [ask] = await untilAsked(engine, session);
  await engine.engine.approvals.answer(ask!.id, allow, "ann");
  const events = await engine.until(session, ({ event }) => event.type === "tandem.push");
  const pushed = events.at(-1)!.event;
  expect(pushed).toMatchObject({
    branch: "tandem/fix-sum",
    pull_request: { number: 7, url: "https://github.com/p/7" },
    bot: "Acme Bot",
    requester: "Ann <ann@example.com>",
  });
  const all = await engine.until(session, isOver);
  expect(JSON.stringify(all)).not.toContain(TOKEN);
  const [row] = (await engine.store.sessions.list({ limit: 1 })).data;
  expect(row?.outcome?.pushed).toMatchObject({ branch: "tandem/fix-sum", pull_request: "https://github.com/p/7" });
  const log = await git(remote.path, [`--git-dir=${remote.path}`, "log", "-1", "--format=%an%n%B", "tandem/fix-sum"]);
  expect(log).toContain(
    `Acme Bot\nFix the sum\n\nCo-authored-by: Ann <ann@example.com>\nTandem-Session: ${session.id}`,
  );
  expect(github.requests.map(({ path }) => path)).toEqual(["/repos/shop", "/repos/shop/pulls"]);
  expect(github.requests.at(-1)).toMatchObject({
    token: `Bearer ${TOKEN}`,
    body: { head: "tandem/fix-sum", base: "main", title: "Fix the sum" },
  });
});

test("a session cannot push the repository behind a link", async () => {
  const engine = await stage.open();
  await engine.session();
  const [row] = (await engine.store.sessions.list({ limit: 1 })).data;
  const other = join(stage.folder, "..", "other-repository");
  await git(stage.folder, ["init", "--quiet", other]);
  await symlink(other, join(stage.folder, "link"));
  const [tool] = pushServer(row!.id, {
    bots: [],
    store: engine.store,
    stateFolder: stage.folder,
    hostVariables: {},
    record: async () => undefined,
  }).tools;
  for (const folder of ["link", "..", "missing"]) {
    const { text: said, isError } = await tool!.run({ title: "x", folder }, new AbortController().signal);
    expect({ said, isError }).toEqual({ said: "The folder is not below the session's own.", isError: true });
  }
});
