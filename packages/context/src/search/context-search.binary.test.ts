import type { Embedder } from "@tandem/runtime";
import { LlmError } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { beforeEach, expect, test } from "vitest";
import type { ContextFolder } from "../folder/context-folder.ts";
import { openContextFolder } from "../folder/open-context-folder.ts";
import { renderMemory } from "../formats/memory-file.ts";
import { sharedStore } from "../testing/shared-store.ts";
import { ContextSearch } from "./context-search.ts";

let home: string;
let store: Store;
const shared = sharedStore();
let folder: ContextFolder;
beforeEach(async () => {
  home = await scratchFolder();
  store = shared();
  folder = await openContextFolder({ path: join(home, "context"), git: "own" });
  await write({
    "wiki/refunds.md": "# Refunds\n\nWithin 30 days.\n",
    "wiki/versand.md": "# Versand\n\nMit der Post.\n",
  });
});

const write = (files: Record<string, string>) =>
  folder.commit(
    Object.entries(files).map(([path, content]) => ({ path, content, expected: null })),
    { subject: "Files" },
  );
const EMPTY = {
  text: "",
  scope: "project" as const,
  tags: [],
  sources: [],
  contradicts: [],
  createdAt: "2026-01-01T00:00:00.000Z",
  expiresAt: null,
};
const keys = async (search: ContextSearch, text: string) =>
  (await search.search({ text, limit: 10 })).map(({ key }) => key);

test("follows edits, renames, removals and breakage in the folder", async () => {
  const search = new ContextSearch({ folder, store });
  expect(await search.sync()).toMatchObject({ removed: 0, problems: [] });
  expect(await keys(search, "refunds")).toEqual(["page:refunds"]);
  await writeFile(join(folder.path, "wiki/refunds.md"), "# Refunds\n\nWithin forty days, as vouchers.\n");
  await rename(join(folder.path, "wiki/versand.md"), join(folder.path, "wiki/post.md"));
  await writeFile(join(folder.path, "wiki/broken.md"), "---\ntags: 7\n---\n# Broken\n");
  const report = await search.sync();
  expect(report).toMatchObject({ removed: 1, problems: [{ path: "wiki/broken.md" }] });
  expect(await keys(search, "vouchers")).toEqual(["page:refunds"]);
  expect(await keys(search, "Versand")).toEqual(["page:post"]);
  await rm(join(folder.path, "wiki/post.md"));
  await search.sync();
  expect(await keys(search, "Versand")).toEqual([]);
});

test("ranks a table with the exact name before mentions", async () => {
  const table = (name: string, columns: string) =>
    `connection: shop\nschema: main\ntable: ${name}\ntype: table\ncolumns:\n${columns}`;
  const mentions = Array.from(
    { length: 15 },
    (_, at) => `  - { name: staff_${at}, type: TEXT, profile: { samples: [staff, staff of ${at}] } }\n`,
  );
  await write({
    "catalogue/shop/main.shifts.yaml": table("shifts", mentions.join("")),
    "catalogue/shop/main.staff.yaml": table(
      "staff",
      "  - { name: id, type: INTEGER }\n  - { name: email, type: TEXT, profile: { samples: [staff@example.org] } }\n",
    ),
    "wiki/staff-rota.md": "# Staff rota\n\nThe staff, the staff and the staff.\n",
  });
  const search = new ContextSearch({ folder, store });
  expect((await keys(search, "staff"))[0]).toBe("table:shop/main.staff");
  expect((await keys(search, "Staff"))[0]).toBe("table:shop/main.staff");
});

test("another process uses the same index without parsing again", async () => {
  await new ContextSearch({ folder, store }).sync();
  const other = new ContextSearch({ folder, store });
  expect(await other.sync()).toMatchObject({ changed: 0 });
  expect(await keys(other, "refunds")).toEqual(["page:refunds"]);
});

test("finds a memory until it expires", async () => {
  const now = new Date("2026-01-01T00:00:00Z");
  const memory = renderMemory({
    id: "mem_1",
    text: "Fridays are for deliveries.",
    scope: "project",
    tags: [],
    sources: [],
    contradicts: [],
    createdAt: now.toISOString(),
    expiresAt: "2026-02-01T00:00:00.000Z",
  });
  await write({ "memory/mem_1.md": memory });
  let today = now;
  const search = new ContextSearch({ folder, store, now: () => today });
  expect((await search.sync()).problems).toEqual([]);
  expect(await keys(search, "deliveries")).toEqual(["memory:mem_1"]);
  today = new Date("2026-03-01T00:00:00Z");
  await search.sync();
  expect(await keys(search, "deliveries")).toEqual([]);
});

test("with an embedder, finds by meaning and embeds each text once", async () => {
  const embedded: string[] = [];
  const embedder: Embedder = {
    model: "made-up",
    embed: async (texts) => {
      embedded.push(...texts);
      return texts.map((text) => Float32Array.from(/refund|money back/i.test(text) ? [1, 0] : [0, 1]));
    },
    close: async () => undefined,
  };
  const search = new ContextSearch({ folder, store, embedder });
  await search.sync();
  expect(embedded).toHaveLength(2);
  expect((await keys(search, "money back"))[0]).toBe("page:refunds");
  await new ContextSearch({ folder, store, embedder }).sync();
  expect(embedded.filter((text) => text !== "money back")).toHaveLength(2);
});

test("a process without an embedder keeps existing vectors", async () => {
  let embedded = 0;
  const embedder: Embedder = {
    model: "made-up",
    embed: async (texts) => {
      expect(texts).not.toContain("\n");
      embedded += texts.length;
      return texts.map(() => Float32Array.from([1, 0]));
    },
    close: async () => undefined,
  };
  // Empty text has no vector.
  await write({ "memory/mem_2.md": renderMemory({ ...EMPTY, id: "mem_2" }) });
  await new ContextSearch({ folder, store, embedder }).sync();
  const plain = new ContextSearch({ folder, store });
  expect(await plain.sync()).toMatchObject({ changed: 0 });
  await writeFile(join(folder.path, "wiki/refunds.md"), "# Refunds\n\nWithin forty days.\n");
  expect(await plain.sync()).toMatchObject({ changed: 1 });
  expect(embedded).toBe(2);
  expect(await new ContextSearch({ folder, store, embedder }).sync()).toMatchObject({ changed: 1 });
  expect(embedded).toBe(3);
});

test("binary or too large files do not prevent finding others", async () => {
  await writeFile(join(folder.path, "wiki/diagram.png"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff]));
  await writeFile(join(folder.path, "wiki/latin.md"), Buffer.from("# Gr\xf6\xdfe\n", "latin1"));
  await writeFile(join(folder.path, "wiki/large.md"), Buffer.alloc(1_100_000, "x"));
  const search = new ContextSearch({ folder, store });
  const { problems } = await search.sync();
  expect(problems.map(({ path }) => path).toSorted()).toEqual(["wiki/large.md", "wiki/latin.md"]);
  expect(await keys(search, "refunds")).toEqual(["page:refunds"]);
  await writeFile(join(folder.path, "wiki/latin.md"), "# Größe\n");
  expect((await search.sync()).problems.map(({ path }) => path)).toEqual(["wiki/large.md"]);
  expect(await keys(search, "Größe")).toEqual(["page:latin"]);
});

test("without the embedder, searches by words, reports it, and adds vectors later", async () => {
  const calls: string[][] = [];
  let isThere = false;
  const embedder: Embedder = {
    model: "another",
    embed: async (texts) => {
      calls.push([...texts]);
      if (!isThere) throw new LlmError("network", "Nobody answers at 127.0.0.1.");
      return texts.map((text) => Float32Array.from(/refund|money back/i.test(text) ? [1, 0] : [0, 1]));
    },
    close: async () => undefined,
  };
  const away = new ContextSearch({ folder, store, embedder });
  const found = await away.find({ text: "refunds", limit: 5 });
  expect(found.hits[0]).toMatchObject({ key: "page:refunds", by: ["words"] });
  expect(found.degraded).toBe("Nobody answers at 127.0.0.1.");
  // The next search does not retry the embedder at once.
  expect((await away.find({ text: "refunds", limit: 5 })).degraded).toBeDefined();
  expect(calls).toHaveLength(1);
  await writeFile(join(folder.path, "wiki/returns.md"), "# Returns\n\nWhoever sends it back gets the money back.\n");
  await away.sync();
  expect((await away.search({ text: "returns", limit: 5 }))[0]?.key).toBe("page:returns");

  isThere = true;
  const back = new ContextSearch({ folder, store, embedder });
  const meant = await back.find({ text: "money back", limit: 5 });
  expect(meant.degraded).toBeUndefined();
  expect(meant.hits.find(({ key }) => key === "page:refunds")?.by).toContain("meaning");
});
