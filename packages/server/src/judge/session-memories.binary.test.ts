import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BadRequestError } from "@anthropic-ai/sdk";
import type { BetaManagedAgentsMemoryStoreResource } from "@anthropic-ai/sdk/resources/beta/sessions/resources";
import { text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { collectUntil, endsTurn } from "../testing/collect-stream.ts";
import { setJudgeStage, type JudgeStage } from "../testing/judge-stage.ts";

const stage = await setJudgeStage();
afterAll(() => stage[Symbol.asyncDispose]());

const stores = () => stage.client.beta.memoryStores;

const tools = [
  { type: "agent_toolset_20260401" as const, default_config: { permission_policy: { type: "always_allow" as const } } },
];

async function store(name: string, memories: Record<string, string>): Promise<string> {
  const { id } = await stores().create({ name, description: `About ${name}` });
  for (const [path, content] of Object.entries(memories)) await stores().memories.create(id, { path, content });
  return id;
}

/** The memories of a store, by path. */
async function contentOf(id: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const entry of stores().memories.list(id, { view: "full" })) {
    if (entry.type === "memory") found[entry.path] = entry.content ?? "";
  }
  return found;
}

async function turn(session: string, script: Parameters<JudgeStage["rehearsal"]["use"]>[0]) {
  stage.rehearsal.use(script);
  const stream = await stage.client.beta.sessions.events.stream(session);
  await stage.say(session, "Go on.");
  return collectUntil(stream, endsTurn);
}

const placeIn = (session: string, slug: string) => join(stage.folder, ".mnt", session, "memory", slug);

test("a session reads and writes its memory store", async () => {
  const id = await store("User Preferences!", { "/colour.md": "blue", "/old.md": "old" });
  const session = await stage.session(
    { resources: [{ type: "memory_store", memory_store_id: id, instructions: "Look here first." }] },
    { tools },
  );
  const [resource] = (await stage.client.beta.sessions.retrieve(session)).resources;
  expect(resource).toMatchObject({
    type: "memory_store",
    memory_store_id: id,
    access: "read_write",
    name: "User Preferences!",
    description: "About User Preferences!",
    instructions: "Look here first.",
    mount_path: "/mnt/memory/user-preferences",
  } satisfies BetaManagedAgentsMemoryStoreResource);
  const place = placeIn(session, "user-preferences");
  await turn(session, [
    toolUse("Bash", { command: `cat ${place}/colour.md && echo red > ${place}/colour.md && rm ${place}/old.md` }),
    toolUse("Write", { file_path: `${place}/food/new.md`, content: "plums" }),
    text("Noted."),
  ]);
  const { system } = stage.rehearsal.modelRequests.at(-1)!;
  expect(system).toContain(`/mnt/memory/user-preferences: ${place}`);
  expect(system).toContain("Look here first.");
  expect(await contentOf(id)).toEqual({ "/colour.md": "red\n", "/food/new.md": "plums" });
  const listed = (await stage.client.beta.sessions.list({ memory_store_id: id })).data;
  expect(listed.map((each) => each.id)).toEqual([session]);
  expect((await stage.client.beta.sessions.list({ memory_store_id: "memstore_none" })).data).toEqual([]);
});

test("the store wins, and the session's text is kept in a notice", async () => {
  const id = await store("Shared", { "/a.md": "one" });
  const session = await stage.session({ resources: [{ type: "memory_store", memory_store_id: id }] }, { tools });
  await turn(session, [text("Hello.")]);
  const place = placeIn(session, "shared");
  expect(await readFile(join(place, "a.md"), "utf8")).toBe("one");
  const [memory] = (await stores().memories.list(id, {})).data;
  await stores().memories.update((memory as { id: string }).id, { memory_store_id: id, content: "theirs" });
  await writeFile(join(place, "a.md"), "ours");
  const events = await turn(session, [text("Hello.")]);
  expect(await readFile(join(place, "a.md"), "utf8")).toBe("theirs");
  expect(await contentOf(id)).toEqual({ "/a.md": "theirs" });
  const { data } = await stage.client.beta.sessions.events.list(session);
  expect(JSON.stringify(data)).toContain("was discarded, because the store has a newer version. It was:\\nours");
  expect(events.length).toBeGreaterThan(0);
});

test("a read-only store is not written, and changes are discarded", async () => {
  const id = await store("Policy", { "/rules.md": "be kind" });
  const session = await stage.session(
    { resources: [{ type: "memory_store", memory_store_id: id, access: "read_only" }] },
    { tools },
  );
  const place = placeIn(session, "policy");
  const events = await turn(session, [
    toolUse("Write", { file_path: `${place}/more.md`, content: "x" }),
    toolUse("Bash", { command: `echo mean > ${place}/rules.md` }),
    text("Tried."),
  ]);
  expect(events.find(({ type }) => type === "agent.tool_use")).toMatchObject({ evaluated_permission: "deny" });
  expect(existsSync(join(place, "more.md"))).toBe(false);
  expect(await readFile(join(place, "rules.md"), "utf8")).toBe("be kind");
  expect(await contentOf(id)).toEqual({ "/rules.md": "be kind" });
});

test("an unknown, archived or repeated store is refused", async () => {
  const create = (...ids: string[]) =>
    stage.session({ resources: ids.map((id) => ({ type: "memory_store" as const, memory_store_id: id })) });
  await expect(create("memstore_none")).rejects.toThrow(BadRequestError);
  const id = await store("Gone", {});
  await expect(create(id, id)).rejects.toThrow(BadRequestError);
  await stores().archive(id);
  await expect(create(id)).rejects.toThrow(BadRequestError);
});
