import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { APIError, BadRequestError, ConflictError, NotFoundError, toFile } from "@anthropic-ai/sdk";
import type { BetaManagedAgentsFileResource } from "@anthropic-ai/sdk/resources/beta/sessions/resources";
import { text, toolUse } from "@tandem/rehearsal";
import { afterAll, describe, expect, test } from "vitest";
import { collectUntil, endsTurn } from "../testing/collect-stream.ts";
import { setJudgeStage } from "../testing/judge-stage.ts";

const stage = await setJudgeStage();
afterAll(() => stage[Symbol.asyncDispose]());

const resources = () => stage.client.beta.sessions.resources;

async function upload(content: string, name = "note.txt"): Promise<string> {
  const file = await toFile(Buffer.from(content), name, { type: "text/plain" });
  return (await stage.client.beta.files.upload({ file })).id;
}

/** Of a file resource, in the session's folder. */
function placeOf(resource: BetaManagedAgentsFileResource): string {
  return join(stage.folder, (resource as BetaManagedAgentsFileResource & { tandem: { path: string } }).tandem.path);
}

async function turn(session: string, words: string): Promise<void> {
  const stream = await stage.client.beta.sessions.events.stream(session);
  await stage.say(session, words);
  await collectUntil(stream, endsTurn);
}

describe("mount_path", () => {
  test("is returned as it was given, and the agent is told where the file is", async () => {
    const file_id = await upload("a,b\n");
    const session = await stage.session({
      resources: [
        { type: "file", file_id },
        { type: "file", file_id, mount_path: "/workspace/judge/data.csv" },
        { type: "file", file_id, mount_path: "/mnt/session/uploads/in/data.csv" },
        { type: "file", file_id, mount_path: "/data.csv" },
      ],
    });
    const listed = (await resources().list(session)).data as BetaManagedAgentsFileResource[];
    expect(listed.map(({ mount_path }) => mount_path)).toEqual([
      `/mnt/session/uploads/${file_id}`,
      "/workspace/judge/data.csv",
      "/mnt/session/uploads/in/data.csv",
      "/data.csv",
    ]);
    expect(listed[0]!.id).toMatch(/^sesrsc_/);
    for (const resource of listed) expect(await readFile(placeOf(resource), "utf8")).toBe("a,b\n");
    expect(placeOf(listed[1]!)).toBe(join(stage.folder, "judge/data.csv"));
    stage.rehearsal.use([text("Read.")]);
    await turn(session, "Read them.");
    const { system } = stage.rehearsal.modelRequests.at(-1)!;
    for (const resource of listed) expect(system).toContain(`${resource.mount_path}: ${placeOf(resource)}`);
  });

  test("a mount_path that leads out or into the memory stores is refused", async () => {
    const file_id = await upload("x");
    const create = (mount_path: string) => stage.session({ resources: [{ type: "file", file_id, mount_path }] });
    await expect(create("/workspace/../../x")).rejects.toThrow(APIError);
    await expect(create("/mnt/memory/x/a.md")).rejects.toThrow(BadRequestError);
    await expect(create("/workspace")).rejects.toThrow(BadRequestError);
    await expect(create("/workspace/.git/hooks/pre-commit")).rejects.toThrow(APIError);
    expect(await readdir(stage.folder)).not.toContain(".git");
  });
});

test("files are added to a living session and removed from it", async () => {
  const session = await stage.session();
  const file_id = await upload("one");
  const added = await resources().add(session, { type: "file", file_id, mount_path: "/workspace/added.txt" });
  expect(added).toMatchObject({ type: "file", file_id, mount_path: "/workspace/added.txt" });
  expect(await resources().retrieve(added.id, { session_id: session })).toEqual(added);
  expect(await readFile(join(stage.folder, "added.txt"), "utf8")).toBe("one");
  stage.rehearsal.use([text("Seen.")]);
  await turn(session, "Look.");
  expect(stage.rehearsal.modelRequests.at(-1)!.system).toContain("/workspace/added.txt");

  expect(await resources().delete(added.id, { session_id: session })).toEqual({
    type: "session_resource_deleted",
    id: added.id,
  });
  expect(existsSync(join(stage.folder, "added.txt"))).toBe(false);
  expect((await resources().list(session)).data).toEqual([]);
  await expect(resources().delete(added.id, { session_id: session })).rejects.toThrow(NotFoundError);
});

test("a file in the way stays, and so does a mounted file that was changed", async () => {
  const session = await stage.session();
  const file_id = await upload("ours");
  await writeFile(join(stage.folder, "theirs.txt"), "theirs");
  const params = { type: "file" as const, file_id };
  await expect(resources().add(session, { ...params, mount_path: "theirs.txt" })).rejects.toThrow(ConflictError);
  expect(await readFile(join(stage.folder, "theirs.txt"), "utf8")).toBe("theirs");

  const added = await resources().add(session, { ...params, mount_path: "edited.txt" });
  await writeFile(join(stage.folder, "edited.txt"), "edited");
  await resources().delete(added.id, { session_id: session });
  expect(await readFile(join(stage.folder, "edited.txt"), "utf8")).toBe("edited");
  const { data: events } = await stage.client.beta.sessions.events.list(session, { order: "desc", limit: 1 });
  expect(events[0]).toMatchObject({
    type: "tandem.resource",
    action: "removed",
    kept: "it has changed since it was mounted",
  });
});

test("an archived session takes no resource", async () => {
  const session = await stage.session();
  await stage.client.beta.sessions.archive(session);
  await expect(resources().add(session, { type: "file", file_id: await upload("x") })).rejects.toThrow(BadRequestError);
});

test("files below the outputs are found by their session", async () => {
  const environment = await stage.client.beta.environments.create({ name: "outputs" });
  const tools = [
    {
      type: "agent_toolset_20260401" as const,
      default_config: { permission_policy: { type: "always_allow" as const } },
    },
  ];
  const session = await stage.session({ environment_id: environment.id }, { tools });
  const scratch = join(dirname(stage.folder), "state/scratch", session);
  const outputs = join(scratch, ".mnt", session, "session/outputs");
  stage.rehearsal.use([toolUse("Write", { file_path: join(outputs, "report.md"), content: "# One\n" }), text("Done.")]);
  await turn(session, "Write the report to /mnt/session/outputs/report.md.");
  expect(stage.rehearsal.modelRequests.at(-1)!.system).toContain(`/mnt/session/outputs: ${outputs}`);
  const found = async () => (await stage.client.beta.files.list({ scope_id: session })).data;
  const [first, ...others] = await found();
  expect(others).toEqual([]);
  expect(first).toMatchObject({ filename: "report.md", mime_type: "text/markdown", scope: { id: session } });
  expect(await (await stage.client.beta.files.download(first!.id)).text()).toBe("# One\n");
  await writeFile(join(outputs, "report.md"), "# Two\n");
  stage.rehearsal.use([text("Nothing to do.")]);
  await turn(session, "Go on.");
  const [second] = await found();
  expect(await (await stage.client.beta.files.download(second!.id)).text()).toBe("# Two\n");
});
