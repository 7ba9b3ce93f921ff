import { join } from "node:path";
import { configSchema } from "@tandem/protocol";
import { expect, inject, test } from "vitest";
import { openContext } from "../open-context.ts";
import { createContextTools } from "../tools/context-tools.ts";
import { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import type { Context } from "../open-context.ts";
import { remember } from "./remember.ts";
import { type MemoryStage, openMemoryStage } from "./testing/memory-stage.ts";

const words = (text: string, more: object = {}) => ({
  text,
  scope: "project" as const,
  expiresAt: null,
  by: "ada",
  ...more,
});

const toolsOf = (context: Context) =>
  createContextTools({
    folder: context.folder,
    user: context.user,
    search: context.search,
    catalogue: new CatalogueReader(context.folder),
    connections: { dialects: new Map(), open: () => Promise.reject(new Error("none")) },
    work: { remember: async () => Promise.reject(new Error("not in this test")), job: async () => undefined },
  });

const ask = (context: Context, tool: string, input: object, agent?: string) =>
  toolsOf(context)
    .find(({ name }) => name === tool)!
    .run(input, { signal: AbortSignal.timeout(20_000 * inject("slowness")), by: "a test", agent });

/** Another user's machine with the same folder. */
const asUser = (stage: MemoryStage, user: string, now?: () => Date) =>
  openContext({
    path: stage.context.folder.path,
    git: "own",
    store: stage.store,
    user,
    ...(now && { now }),
    accept: configSchema.parse({}).context.accept,
    scratch: join(stage.context.folder.path, "..", "scratch"),
  });

const found = async (context: Context, agent?: string) => {
  const { structured } = await ask(context, "context_search", { query: "weeks begin" }, agent);
  const { hits } = structured as { hits: { title: string }[] };
  return hits.map(({ title }) => title).toSorted();
};

test("a memory is found by its scope: everyone, one user, or one agent's sessions", async () => {
  await using stage = await openMemoryStage();
  const ada = await asUser(stage, "ada");
  const bob = await asUser(stage, "bob");
  await remember(ada, words("Weeks begin on Mondays."));
  const { memory: hers } = await remember(ada, words("Weeks begin late for Ada.", { scope: "user" }));
  const { memory: analysts } = await remember(
    ada,
    words("Weeks begin on Sundays in reports.", { scope: "agent", agent: "analyst" }),
  );
  expect(hers).toMatchObject({ scope: "user", user: "ada" });
  const all = "Weeks begin on Mondays.";
  expect(await found(ada)).toEqual(["Weeks begin late for Ada.", all]);
  expect(await found(bob)).toEqual([all]);
  expect(await found(bob, "analyst")).toEqual([all, "Weeks begin on Sundays in reports."]);
  expect(await found(bob, "another")).toEqual([all]);

  const read = (context: Context, id: string, agent?: string) =>
    ask(context, "page_read", { key: `memory:${id}` }, agent);
  expect((await read(ada, hers.id)).markdown).toContain("late for Ada");
  await expect(read(bob, hers.id)).rejects.toMatchObject({ code: "not_found" });
  expect((await read(bob, analysts.id, "analyst")).markdown).toContain("Sundays");
  await expect(read(ada, analysts.id)).rejects.toMatchObject({ code: "not_found" });
});

test("a memory that has expired is neither found nor read, by the clock of the context", async () => {
  await using stage = await openMemoryStage();
  let now = new Date("2031-03-05T12:00:00Z");
  const context = await asUser(stage, "ada", () => now);
  const { memory } = await remember(context, words("Weeks begin on Mondays.", { expiresAt: "2031-03-06T12:00:00Z" }));
  expect(memory.createdAt).toBe(now.toISOString());
  const read = () => ask(context, "page_read", { key: `memory:${memory.id}` });
  expect(await found(context)).toEqual(["Weeks begin on Mondays."]);
  expect((await read()).markdown).toContain("Mondays");
  now = new Date("2031-03-06T12:00:01Z");
  await context.search.sync();
  expect(await found(context)).toEqual([]);
  await expect(read()).rejects.toMatchObject({ code: "not_found" });
});

test("memories of others do not displace matching ones", async () => {
  await using stage = await openMemoryStage();
  await remember(stage.context, words("Weeks begin on Mondays, says everybody who has been asked about it so far."));
  for (let i = 0; i < 6; i += 1) {
    await remember(stage.context, words(`Weeks begin ${i}.`, { scope: "agent", agent: "another" }));
  }
  const { hits } = await stage.context.search.find({ text: "weeks begin", kinds: ["memory"], limit: 1 });
  expect(hits.map(({ title }) => title)).toEqual([expect.stringContaining("says everybody")]);
});

test("an agent's own memory is kept under its name, and an external client has none", async () => {
  await using stage = await openMemoryStage();
  const { state, result } = await stage.run({
    text: "Orders are in orders_v2.",
    scope: "agent",
    agent: "analyst",
    by: "session s",
  });
  expect(state).toBe("done");
  const [proposal] = (result as { proposals: string[] }).proposals;
  await stage.context.proposals.accept(proposal!, { by: "ada" });
  expect(await stage.memories.own()).toMatchObject([{ scope: "agent", agent: "analyst" }]);
  const refused = { code: "invalid_request", fix: "Use the scope project or user." };
  const input = { text: "Orders are in orders_v2.", scope: "agent" };
  await expect(ask(stage.context, "memory_capture", input)).rejects.toMatchObject(refused);
  expect(await stage.run({ ...input, by: "cursor" })).toMatchObject({ state: "failed" });
});
