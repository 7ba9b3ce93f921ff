import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import Anthropic, { BadRequestError, ConflictError, NotFoundError, PermissionDeniedError } from "@anthropic-ai/sdk";
import { afterAll, describe, expect, test } from "vitest";
import { makeUpContext } from "../testing/made-up-context.ts";
import { setJudgeStage } from "../testing/judge-stage.ts";

const context = await makeUpContext();
const stage = await setJudgeStage({ context });
const server = stage.server;
const client = new Anthropic({ apiKey: server.secret, baseURL: server.url, maxRetries: 0 });
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
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

  test("the context's own store exists by default, holds the memories, and cannot be removed", async () => {
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
  test("are returned byte for byte, whatever they contain", async () => {
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
    // The program's memories are not part of the context's search.
    expect(await context.context.search.search({ text: "日本語", limit: 5 })).toEqual([]);
  });

  test("of the context are returned byte for byte, too", async () => {
    const memory_store_id = context.context.memoryStores.ownId;
    const content = "---\nid: x\n---\r\n padded 日本語\n\n";
    const made = await stores().memories.create(memory_store_id, { path: "/bytes.md", content });
    expect((await stores().memories.retrieve(made.id, { memory_store_id })).content).toBe(content);
    const [listed] = await all(stores().memories.list(memory_store_id, { view: "full" }));
    expect(listed).toMatchObject({ content, content_sha256: sha256(content) });
    await stores().memories.delete(made.id, { memory_store_id });
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

  test("are updated only with a matching precondition, and renamed only to a free path", async () => {
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
    // Content that is already as requested is no conflict.
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

  test("are commits under the token's name, and proposals that can be undone", async () => {
    const own = context.context.memoryStores.ownId;
    const made = await stores().memories.create(own, { path: "/undo.md", content: "Undo me." });
    const [proposal] = await context.context.proposals.list({ limit: 1 });
    expect(proposal).toMatchObject({ state: "accepted", title: "Remember: Undo me." });
    const whole = await context.context.proposals.get(proposal!.id);
    expect(whole?.changes[0]?.hunks[0]).toMatchObject({ state: "accepted", decidedBy: "admin" });
    await context.context.proposals.undo(proposal!.id, "ada");
    await expect(stores().memories.retrieve(made.id, { memory_store_id: own })).rejects.toThrow(NotFoundError);
  });

  test("are limited to 100 kB, and a read-only token cannot write", async () => {
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

describe("versions", () => {
  test("record every change and its author, also after the memory is deleted", async () => {
    const { id: memory_store_id } = await stores().create({ name: "History" });
    const made = await stores().memories.create(memory_store_id, { path: "/a.md", content: "one" });
    const updated = await stores().memories.update(made.id, { memory_store_id, content: "two" });
    // An unchanged memory adds no version.
    const same = await stores().memories.update(made.id, { memory_store_id, content: "two" });
    expect(same.memory_version_id).toBe(updated.memory_version_id);
    await stores().memories.update(made.id, { memory_store_id, path: "/b.md" });
    await stores().memories.delete(made.id, { memory_store_id });
    const versions = await all(stores().memoryVersions.list(memory_store_id, { memory_id: made.id, limit: 3 }));
    expect(versions.map(({ operation, path, content_sha256 }) => [operation, path, content_sha256])).toEqual([
      ["deleted", "/b.md", null],
      ["modified", "/b.md", sha256("two")],
      ["modified", "/a.md", sha256("two")],
      ["created", "/a.md", sha256("one")],
    ]);
    for (const version of versions) {
      expect(version).toMatchObject({ memory_store_id, content: null, redacted_at: null });
      expect(version, "the client's type has no null").not.toHaveProperty("redacted_by");
      expect(version.created_by).toMatchObject({ type: "api_actor", api_key_id: expect.stringMatching(/^tok_/) });
    }
    expect(versions[2]!.id).toBe(updated.memory_version_id);
    const first = await stores().memoryVersions.retrieve(made.memory_version_id, { memory_store_id });
    expect(first).toMatchObject({ content: "one", content_size_bytes: 3, operation: "created" });
    const changed = await all(stores().memoryVersions.list(memory_store_id, { operation: "modified", view: "full" }));
    expect(changed.map(({ content }) => content)).toEqual(["two", "two"]);
    const later = { "created_at[gte]": new Date(Date.now() + 60_000).toISOString() };
    expect(await all(stores().memoryVersions.list(memory_store_id, later))).toEqual([]);
    expect(await all(stores().memoryVersions.list(memory_store_id, { session_id: "sesn_none" }))).toEqual([]);
    await expect(stores().memoryVersions.retrieve("memver_none", { memory_store_id })).rejects.toThrow(NotFoundError);
  });

  test("an old version can be redacted, the current one cannot", async () => {
    const { id: memory_store_id } = await stores().create({ name: "Secrets" });
    const made = await stores().memories.create(memory_store_id, { path: "/a.md", content: "hunter2" });
    const redact = (id: string) => stores().memoryVersions.redact(id, { memory_store_id });
    await expect(redact(made.memory_version_id)).rejects.toThrow("Change or delete the memory first");
    await stores().memories.update(made.id, { memory_store_id, content: "changed" });
    const redacted = await redact(made.memory_version_id);
    const gone = { path: null, content: null, content_sha256: null, content_size_bytes: null };
    expect(redacted).toMatchObject({ ...gone, operation: "created", redacted_by: { type: "api_actor" } });
    expect(await redact(made.memory_version_id)).toEqual(redacted);
    expect(await stores().memoryVersions.retrieve(made.memory_version_id, { memory_store_id })).toEqual(redacted);
    const listed = JSON.stringify(await all(stores().memoryVersions.list(memory_store_id, { view: "full" })));
    expect(listed).not.toContain("hunter2");
    await stores().delete(memory_store_id);
    await expect(all(stores().memoryVersions.list(memory_store_id))).rejects.toThrow(NotFoundError);
  });

  test("changes in the folder, or an undo, are versions too, without an author", async () => {
    const memory_store_id = context.context.memoryStores.ownId;
    const made = await stores().memories.create(memory_store_id, { path: "/hand.md", content: "By the program." });
    const file = join(context.context.folder.path, "memory", `${made.id}.md`);
    await writeFile(file, (await readFile(file, "utf8")).replace("By the program.", "By hand."));
    const now = await stores().memories.retrieve(made.id, { memory_store_id });
    expect(now.content).toBe("By hand.");
    expect(now.memory_version_id).not.toBe(made.memory_version_id);
    await rm(file);
    const versions = await all(stores().memoryVersions.list(memory_store_id, { memory_id: made.id }));
    expect(versions.map(({ operation, created_by }) => [operation, created_by === null])).toEqual([
      ["deleted", true],
      ["modified", true],
      ["created", false],
    ]);
  });
});

test("a server without a context has all stores but the context's", async () => {
  await using bare = await setJudgeStage();
  const { memoryStores } = bare.client.beta;
  const { id } = await memoryStores.create({ name: "Plain" });
  await memoryStores.memories.create(id, { path: "/a.md", content: "x" });
  expect((await memoryStores.list()).data.map((store) => store.id)).toEqual([id]);
  await expect(memoryStores.retrieve(context.context.memoryStores.ownId)).rejects.toThrow(NotFoundError);
});
