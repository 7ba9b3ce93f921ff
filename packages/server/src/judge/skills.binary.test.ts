import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BadRequestError, NotFoundError, toFile } from "@anthropic-ai/sdk";
import { setupSkills } from "@anthropic-ai/sdk/tools/agent-toolset/node";
import { text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { collectUntil, endsTurn, ofType, requiresAction } from "../testing/collect-stream.ts";
import { setJudgeStage } from "../testing/judge-stage.ts";

const stage = await setJudgeStage();
afterAll(() => stage[Symbol.asyncDispose]());

const skills = () => stage.client.beta.skills;
const TOOLS = [{ type: "agent_toolset_20260401" as const }];

const main = (name: string, description = "Greets herons.", body = "Greet the heron.") =>
  `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`;

/** The files of a skill, by their paths inside its folder. */
const upload = (name: string, files: Record<string, string> = {}) =>
  Promise.all(
    Object.entries({ "SKILL.md": main(name), ...files }).map(([path, content]) =>
      toFile(Buffer.from(content), `${name}/${path}`),
    ),
  );

test("create, retrieve, list, versions, download, delete", async () => {
  const files = await upload("greet", { "words/hello.md": "Good morning, heron." });
  const made = await skills().create({ files, display_name: "Greeting" });
  expect(made).toEqual({
    type: "skill",
    id: expect.stringMatching(/^skill_/),
    display_name: "Greeting",
    latest_version_id: expect.stringMatching(/^skillver_/),
    source: { type: "custom" },
    created_at: expect.any(String),
    updated_at: made.created_at,
  });
  expect(await skills().retrieve(made.id)).toEqual(made);
  const first = await skills().versions.retrieve("latest", { skill_id: made.id });
  expect(first).toEqual({
    type: "skill_version",
    id: made.latest_version_id,
    skill_id: made.id,
    name: "greet",
    description: "Greets herons.",
    created_at: expect.any(String),
  });

  const second = await skills().versions.create(made.id, { files: await upload("greet", { "new.md": "New." }) });
  expect((await skills().retrieve(made.id)).latest_version_id).toBe(second.id);
  expect(await skills().versions.retrieve(first.id, { skill_id: made.id })).toEqual(first);
  const versions = [];
  for await (const { id } of skills().versions.list(made.id, { limit: 1 })) versions.push(id);
  expect(versions).toEqual([second.id, first.id]);

  const other = await skills().create({ files: await upload("other") });
  expect(other.display_name).toBe("other");
  const listed = [];
  for await (const { id } of skills().list({ limit: 1, source: "custom" })) listed.push(id);
  expect(listed).toEqual([other.id, made.id]);
  expect((await skills().list({ source: "anthropic" })).data).toEqual([]);

  const answer = await skills().versions.download(first.id, { skill_id: made.id });
  expect(answer.headers.get("content-disposition")).toContain("greet.zip");
  const zip = Buffer.from(await answer.arrayBuffer());
  // The downloaded archive can be uploaded again.
  const copy = await skills().create({ files: [await toFile(zip, "anything.zip")] });
  const again = await skills().versions.download("latest", { skill_id: copy.id });
  expect(Buffer.from(await again.arrayBuffer())).toEqual(zip);

  expect(await skills().versions.delete(second.id, { skill_id: made.id })).toEqual({
    type: "skill_version_deleted",
    id: second.id,
  });
  expect((await skills().retrieve(made.id)).latest_version_id).toBe(first.id);
  await expect(skills().versions.delete(first.id, { skill_id: made.id })).rejects.toThrow(/only version/);
  for (const { id } of [made, other, copy]) {
    expect(await skills().delete(id)).toEqual({ type: "skill_deleted", id });
    await expect(skills().retrieve(id)).rejects.toThrow(NotFoundError);
  }
  await expect(skills().versions.download(first.id, { skill_id: made.id })).rejects.toThrow(NotFoundError);
  await expect(skills().delete(made.id)).rejects.toThrow(NotFoundError);
});

test("uploads that break a rule are refused with the reason", async () => {
  const plain = (...files: [string, string][]) =>
    Promise.all(files.map(([name, content]) => toFile(Buffer.from(content), name)));
  const refused = async (files: Awaited<ReturnType<typeof plain>>, why: RegExp) => {
    await expect(skills().create({ files })).rejects.toThrow(BadRequestError);
    await expect(skills().create({ files })).rejects.toThrow(why);
  };
  await refused(await plain(["SKILL.md", main("a")]), /one folder/);
  await refused(await plain(["a/SKILL.md", main("a")], ["b/x.md", "x"]), /one folder/);
  await refused(await plain(["a/README.md", "x"]), /SKILL\.md is missing/);
  await refused(await plain(["a/skill.md", main("a")]), /must be named SKILL\.md/);
  await refused(await plain(["/tmp/a/SKILL.md", main("a")]), /absolute/);
  await refused(await plain(["a/SKILL.md", main("a")], ["a/../b.md", "x"]), /plain path/);
  await refused(await plain(["a/SKILL.md", main("a")], ["a/x.md", "x"], ["a/X.md", "y"]), /one file on some systems/);
  await refused(await plain(["a/SKILL.md", main("a")], ["a/x.md", "x"], ["a/x.md", "y"]), /there twice/);
  await refused(await plain(["a/SKILL.md", main("Upper")]), /lower case/);
  await refused(await plain(["a/SKILL.md", main("claude-helper")]), /reserved/);
  await refused(await plain(["a/SKILL.md", main("a", "Uses <b>tags</b>.")]), /XML/);
  await refused(await plain(["a/SKILL.md", "No front matter."]), /description: is missing/);
  const skill = await skills().create({ files: await upload("steady") });
  await expect(skills().versions.create(skill.id, { files: await upload("renamed") })).rejects.toThrow(
    /every version of this skill is named .*steady/,
  );
  await expect(skills().create({ files: await upload("x"), display_name: "two\nlines" })).rejects.toThrow(
    /single line/,
  );
  await expect(skills().list({ page: "nonsense" })).rejects.toThrow(BadRequestError);
  await expect(skills().versions.create("skill_none", { files: await upload("x") })).rejects.toThrow(NotFoundError);
});

test("an agent's skills are validated, and a session pins their versions", async () => {
  const { agents, sessions } = stage.client.beta;
  const skill = await skills().create({ files: await upload("pinned") });
  const custom = { type: "custom" as const, skill_id: skill.id };
  const agent = await agents.create({ name: "a", model: "sonnet", tools: TOOLS, skills: [custom] });
  expect(agent.skills).toEqual([{ ...custom, version: "latest" }]);
  expect((await agents.update(agent.id, { name: "b" })).skills).toEqual(agent.skills);
  const refused: [object, RegExp][] = [
    [{ skills: [{ type: "anthropic", skill_id: "xlsx" }] }, /Anthropic's service.*exceljs/],
    [{ skills: [{ type: "custom", skill_id: "skill_none" }] }, /no skill skill_none/],
    [{ skills: [{ ...custom, version: "skillver_none" }] }, /no version skillver_none/],
    [{ skills: [custom, custom] }, /there twice/],
    [{ skills: Array.from({ length: 21 }, () => custom) }, /skills/],
    [{ skills: [custom], tools: [] }, /lack `read`/],
    [{ tools: [] }, /lack `read`/],
  ];
  for (const [params, why] of refused) {
    await expect(agents.update(agent.id, params)).rejects.toThrow(BadRequestError);
    await expect(agents.update(agent.id, params)).rejects.toThrow(why);
  }
  const session = await sessions.create({ agent: agent.id, environment_id: "env_local" });
  expect(session.agent.skills).toEqual([{ ...custom, version: skill.latest_version_id }]);
  await expect(sessions.update(session.id, { agent: { tools: [] } })).rejects.toThrow(/lack `read`/);
  const newer = await skills().versions.create(skill.id, { files: await upload("pinned", { "x.md": "x" }) });
  expect((await sessions.retrieve(session.id)).agent.skills).toEqual(session.agent.skills);
  const later = await sessions.create({ agent: agent.id, environment_id: "env_local" });
  expect(later.agent.skills).toEqual([{ ...custom, version: newer.id }]);
  const without = { type: "agent_with_overrides" as const, id: agent.id, skills: [] };
  expect((await sessions.create({ agent: without, environment_id: "env_local" })).agent.skills).toEqual([]);
  const old = { ...without, skills: [{ ...custom, version: skill.latest_version_id }] };
  expect((await sessions.create({ agent: old, environment_id: "env_local" })).agent.skills).toEqual(
    session.agent.skills,
  );

  // The official worker unpacks what the session's agent has.
  const workdir = await mkdtemp(join(tmpdir(), "tandem-worker-"));
  const cleanUp = await setupSkills({ client: stage.client, session: later, workdir });
  expect(await readFile(join(workdir, "skills", "pinned", "x.md"), "utf8")).toBe("x");
  await cleanUp();
  await rm(workdir, { recursive: true });

  await skills().delete(skill.id);
  await expect(sessions.create({ agent: agent.id, environment_id: "env_local" })).rejects.toThrow(/no skill/);
  expect((await agents.update(agent.id, { name: "c" })).skills, "other changes stay possible").toEqual(agent.skills);
});

test("the model sees a skill, calls it, and reads its files without an approval; its scripts are judged", async () => {
  const files = await upload("heron", { "words.md": "Good morning, heron.", "run.sh": "#!/bin/sh\necho ran\n" });
  const skill = await skills().create({ files });
  const ask = { permission_policy: { type: "always_ask" as const } };
  const session = await stage.session(
    {},
    {
      tools: [{ type: "agent_toolset_20260401", default_config: ask }],
      skills: [{ type: "custom", skill_id: skill.id }],
    },
  );
  stage.rehearsal.use((request) => {
    const body = JSON.stringify(request.body);
    const [, base] = /Base directory for this skill: ([^\s\\"]+)/.exec(body) ?? [];
    if (base === undefined) return toolUse("Skill", { skill: "heron" });
    if (!body.includes("Good morning, heron.")) return toolUse("Read", { file_path: join(base, "words.md") });
    return body.includes("Run it.") ? toolUse("Bash", { command: join(base, "run.sh") }) : text("done");
  });
  const stream = await stage.client.beta.sessions.events.stream(session);
  await stage.say(session, "Go.");
  const events = await collectUntil(stream, endsTurn);
  const [first] = stage.rehearsal.modelRequests;
  expect(JSON.stringify(first!.body)).toContain("heron: Greets herons.");
  expect(ofType(events, "agent.tool_use").map(({ name, evaluated_permission: how }) => [name, how])).toEqual([
    ["Skill", "allow"],
    ["Read", "allow"],
  ]);
  expect(JSON.stringify(stage.rehearsal.modelRequests.at(-1)!.body)).toContain("Greet the heron.");

  const next = await stage.client.beta.sessions.events.stream(session);
  await stage.say(session, "Run it.");
  const asked = await collectUntil(next, requiresAction);
  expect(ofType(asked, "agent.tool_use")).toMatchObject([{ name: "Bash", evaluated_permission: "ask" }]);
});
