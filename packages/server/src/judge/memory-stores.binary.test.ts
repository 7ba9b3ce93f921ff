import { createHash } from "node:crypto";
import Anthropic, { BadRequestError, ConflictError, NotFoundError, PermissionDeniedError } from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MadeUpContext, makeUpContext } from "../testing/made-up-context.ts";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { startTestServer, type TestServer } from "../testing/start-test-server.ts";

let context: MadeUpContext;
let server: TestServer;
let client: Anthropic;
beforeAll(async () => {
  context = await makeUpContext();
  server = await startTestServer({ engine: new MemoryEngine().engine, context });
  client = new Anthropic({ apiKey: server.secret, baseURL: server.url, maxRetries: 0 });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await context[Symbol.asyncDispose]();
});

const stores = () => client.beta.memoryStores;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
}

describe("stores", () => {
  test("create, update, list, archive and delete", async () => {
    const made = await stores().create({ name: "Ada", description: "What Ada likes.", metadata: { user: "ada" } });
    expect(made).toMatchObject({ type: "memory_store", name: "Ada", metadata: { user: "ada" }, archived_at: null });
    expect(made.id).toMatch(/^memstore_/);
    const updated = await stores().update(made.id, { description: "", metadata: { user: null, plan: "pro" } });
    expect(updated).toMatchObject({ name: "Ada", description: "", metadata: { plan: "pro" } });
    expect(await stores().retrieve(made.id)).toEqual(updated);
    const listed = await all(stores().list({ limit: 1 }));
    expect(listed.map(({ id }) => id)).toEqual([made.id, context.context.memoryStores.ownId]);
    expect((await stores().archive(made.id)).archived_at).not.toBeNull();
    expect(await all(stores().list())).toHaveLength(1);
    expect(await all(stores().list({ include_archived: true }))).toHaveLength(2);
    const refused = stores().memories.create(made.id, { path: "/a.md", content: "x" });
    await expect(refused).rejects.toThrow(BadRequestError);
    expect(await stores().delete(made.id)).toEqual({ type: "memory_store_deleted", id: made.id });
    await expect(stores().retrieve(made.id)).rejects.toThrow(NotFoundError);
  });

  test("the context's own is there by itself, holds what is remembered, and stays", async () => {
    const own = context.context.memoryStores.ownId;
    const made = await stores().memories.create(own, { path: "/terms/week.md", content: "Weeks begin on Sundays.\n" });
    expect(await context.context.search.search({ text: "Sundays", limit: 5 })).toMatchObject([
      { key: `memory:${made.id}` },
    ]);
    await expect(stores().delete(own)).rejects.toThrow(PermissionDeniedError);
    await expect(stores().archive(own)).rejects.toThrow(PermissionDeniedError);
    await stores().memories.delete(made.id, { memory_store_id: own });
    expect(await all(stores().memories.list(own))).toEqual([]);
  });
});

describe("memories", () => {
  test("are given back to the byte, whatever they hold", async () => {
    const { id: memory_store_id } = await stores().create({ name: "Bytes" });
    const texts = [
      "",
      "\n",
      " padded \n\n",
      "windows\r\nlines\r\n",
      "---\nid: x\n---\n# Title\n",
      "日本語 🎈",
      "tab\tend",
    ];
    for (const [at, content] of texts.entries()) {
      const made = await stores().memories.create(memory_store_id, { path: `/texts/${at}.md`, content });
      expect(made).toMatchObject({
        content: null,
        content_sha256: sha256(content),
        content_size_bytes: Buffer.byteLength(content),
      });
      expect((await stores().memories.retrieve(made.id, { memory_store_id })).content).toBe(content);
      const changed = `${content}\nMore.`;
      const updated = await stores().memories.update(made.id, { memory_store_id, content: changed, view: "full" });
      expect(updated).toMatchObject({
        id: made.id,
        content: changed,
        content_sha256: sha256(changed),
        path: `/texts/${at}.md`,
      });
      expect(updated.memory_version_id).not.toBe(made.memory_version_id);
    }
    // They are the program's alone.
    expect(await context.context.search.search({ text: "日本語", limit: 5 })).toEqual([]);
  });

  test("are listed by folder, in pages", async () => {
    const { id } = await stores().create({ name: "Folders" });
    for (const path of ["/notes/b.md", "/notes/a.md", "/notes/deep/c.md", "/notes-old/d.md", "/e.md"]) {
      await stores().memories.create(id, { path, content: path });
    }
    const paths = async (params: object) =>
      (await all(stores().memories.list(id, params))).map((item) => [item.type, item.path]);
    expect((await paths({ limit: 2 })).map(([, path]) => path)).toEqual([
      "/e.md",
      "/notes-old/d.md",
      "/notes/a.md",
      "/notes/b.md",
      "/notes/deep/c.md",
    ]);
    expect(await paths({ depth: 1 })).toEqual([
      ["memory", "/e.md"],
      ["memory_prefix", "/notes-old/"],
      ["memory_prefix", "/notes/"],
    ]);
    expect(await paths({ path_prefix: "/notes/", depth: 1, limit: 1 })).toEqual([
      ["memory", "/notes/a.md"],
      ["memory", "/notes/b.md"],
      ["memory_prefix", "/notes/deep/"],
    ]);
    const [first] = await all(stores().memories.list(id, { view: "full" }));
    expect(first).toMatchObject({ content: "/e.md" });
  });

  test("are changed only from what the caller takes them for, and renamed only to where there is room", async () => {
    const { id: memory_store_id } = await stores().create({ name: "Care" });
    const made = await stores().memories.create(memory_store_id, { path: "/notes", content: "one" });
    const precondition = (text: string) => ({ type: "content_sha256" as const, content_sha256: sha256(text) });
    await stores().memories.update(made.id, { memory_store_id, content: "two", precondition: precondition("one") });
    const stale = stores().memories.update(made.id, {
      memory_store_id,
      content: "three",
      precondition: precondition("one"),
    });
    await expect(stale).rejects.toThrow(ConflictError);
    await expect(stale).rejects.toMatchObject({ error: { error: { type: "memory_precondition_failed_error" } } });
    // What is as wanted already is no conflict.
    await stores().memories.update(made.id, { memory_store_id, content: "two", precondition: precondition("one") });
    const other = await stores().memories.create(memory_store_id, { path: "/other.md", content: "x" });
    for (const attempt of [
      stores().memories.create(memory_store_id, { path: "/notes", content: "x" }),
      stores().memories.create(memory_store_id, { path: "/notes/below.md", content: "x" }),
      stores().memories.update(other.id, { memory_store_id, path: "/notes/below.md" }),
    ]) {
      await expect(attempt).rejects.toMatchObject({
        status: 409,
        error: {
          error: { type: "memory_path_conflict_error", conflicting_path: "/notes", conflicting_memory_id: made.id },
        },
      });
    }
    const moved = await stores().memories.update(made.id, { memory_store_id, path: "/kept/notes" });
    expect(moved).toMatchObject({ id: made.id, path: "/kept/notes", content_sha256: sha256("two") });
    const wrong = stores().memories.delete(made.id, { memory_store_id, expected_content_sha256: sha256("one") });
    await expect(wrong).rejects.toThrow(ConflictError);
    const gone = await stores().memories.delete(made.id, { memory_store_id, expected_content_sha256: sha256("two") });
    expect(gone).toEqual({ type: "memory_deleted", id: made.id });
    await expect(stores().memories.retrieve(made.id, { memory_store_id })).rejects.toThrow(NotFoundError);
  });

  test.each(["relative.md", "/a//b", "/../up", "/a/./b", `/${"x".repeat(1_100)}`, "/bell\u0007", "/e\u0301", "/"])(
    "at the path %j are refused",
    async (path) => {
      const own = context.context.memoryStores.ownId;
      await expect(stores().memories.create(own, { path, content: "x" })).rejects.toThrow(BadRequestError);
    },
  );

  test("are commits in the name of the token, and proposals that can be undone", async () => {
    const own = context.context.memoryStores.ownId;
    const made = await stores().memories.create(own, { path: "/undo.md", content: "Undo me." });
    const [proposal] = await context.context.proposals.list({ limit: 1 });
    expect(proposal).toMatchObject({ state: "accepted", title: "Remember: Undo me." });
    const whole = await context.context.proposals.get(proposal!.id);
    expect(whole?.changes[0]?.hunks[0]).toMatchObject({ state: "accepted", decidedBy: "admin" });
    await context.context.proposals.undo(proposal!.id, "ada");
    await expect(stores().memories.retrieve(made.id, { memory_store_id: own })).rejects.toThrow(NotFoundError);
  });

  test("of 100 kB are taken, larger ones are not; a token that only reads writes nothing", async () => {
    const { id } = await stores().create({ name: "Large" });
    await stores().memories.create(id, { path: "/a", content: "x".repeat(102_400) });
    await expect(stores().memories.create(id, { path: "/b", content: "x".repeat(102_401) })).rejects.toThrow(
      BadRequestError,
    );
    const reader = new Anthropic({ apiKey: await server.secretFor("read"), baseURL: server.url, maxRetries: 0 });
    await expect(reader.beta.memoryStores.memories.create(id, { path: "/c", content: "x" })).rejects.toThrow(
      PermissionDeniedError,
    );
    expect(await all(reader.beta.memoryStores.memories.list(id))).toHaveLength(1);
  });
});

test("a server without a context says so", async () => {
  await using bare = await startTestServer({ engine: new MemoryEngine().engine });
  const other = new Anthropic({ apiKey: bare.secret, baseURL: bare.url, maxRetries: 0 });
  await expect(other.beta.memoryStores.list()).rejects.toThrow("has no context");
});
