import { createHash, randomBytes } from "node:crypto";
import { expect } from "vitest";
import { recordPages } from "../record-pages.ts";
import type { RecordChange, StoredRecord } from "../records.ts";
import { defaultTenantOnly, numbers, type Stage, type Behaviours } from "./storage-stage.ts";

const put = (key: string, value: unknown, version?: number): RecordChange => ({
  type: "put",
  kind: "page",
  key,
  value,
  ...(version !== undefined && { version }),
});
const drop = (key: string): RecordChange => ({ type: "delete", kind: "page", key });
const keysOf = (records: readonly StoredRecord[]): string[] => records.map(({ key }) => key);
const newSpace = (): string => `space-${randomBytes(6).toString("hex")}`;
const list = (stage: Stage, space: string, query: object = {}): Promise<StoredRecord[]> =>
  stage.store.records.list(space, "page", { limit: 10_000, ...query });

export const verifyRecords: Behaviours = {
  "A value round-trips with any text, up to several megabytes": defaultTenantOnly(async (stage) => {
    const space = newSpace();
    const strange = "NUL \u0000, half a pair \ud83d, emoji 🌲, quotes \"'`$1 ? :a";
    const long = "é".repeat(2_000_000);
    const values: unknown[] = [null, false, 0, "", [], {}, { zebra: [strange, { [strange]: 1.5 }], alpha: "" }, long];
    const before = Date.now();
    await stage.store.records.write(
      space,
      values.map((value, index) => put(`${index}`, value)),
    );
    const found = await stage.other.records.getMany(space, "page", Object.keys(values));
    expect(found.map(({ value }) => value)).toEqual(values);
    expect(Object.keys(found[6]!.value as object)).toEqual(["zebra", "alpha"]);
    for (const { version, updatedAt } of found) {
      expect(version).toBe(1);
      expect(Date.parse(updatedAt)).toBeGreaterThanOrEqual(before);
    }
    // More data than fits into one thread message.
    await stage.store.records.write(
      space,
      numbers(8).map((number) => put(`long ${number}`, long)),
    );
    expect((await list(stage, space, { prefix: "long" })).map(({ value }) => (value as string).length)).toEqual(
      numbers(8).map(() => long.length),
    );
    expect(await stage.store.records.get(space, "page", "none")).toBeUndefined();
    await stage.store.records.write(space, []);
    await stage.store.deleteSpace(space);
    await stage.store.deleteSpace(space);
  }),

  "Records are listed by code point, in both directions, by prefix and page": async (stage) => {
    const space = newSpace();
    // UTF-16 order would put 🌲 before the last but one key; collation order would put a before B.
    const keys = ["", " ", "A", "B", "Z/1", "a", "a/", "a/1", "a/10", "a/2", "a/\u{10ffff}", "a0", "b", "é", "ﬁ", "🌲"];
    await stage.store.records.write(
      space,
      keys.toReversed().map((key) => put(key, key)),
    );
    expect(keysOf(await list(stage, space))).toEqual(keys);
    expect(keysOf(await list(stage, space, { order: "desc" }))).toEqual(keys.toReversed());
    const under = ["a/", "a/1", "a/10", "a/2", "a/\u{10ffff}"];
    expect(keysOf(await list(stage, space, { prefix: "a/" }))).toEqual(under);
    expect(keysOf(await list(stage, space, { prefix: "a/", order: "desc", limit: 2 }))).toEqual(
      under.slice(3).toReversed(),
    );
    expect(keysOf(await list(stage, space, { prefix: "a/", order: "desc", after: "a/10" }))).toEqual(["a/1", "a/"]);
    expect(keysOf(await list(stage, space, { prefix: "a/", after: "A" }))).toEqual(under);
    expect(keysOf(await list(stage, space, { prefix: "a/", after: "a/1", limit: 2 }))).toEqual(["a/10", "a/2"]);
    expect(keysOf(await list(stage, space, { prefix: "a/\u{10ffff}" }))).toEqual(["a/\u{10ffff}"]);
    expect(keysOf(await list(stage, space, { prefix: "%" }))).toEqual([]);
    expect(await list(stage, space, { limit: 0 })).toEqual([]);
    const pages: string[] = [];
    for (let page = await list(stage, space, { limit: 5 }); page.length > 0;) {
      pages.push(...keysOf(page));
      page = await list(stage, space, { limit: 5, after: pages.at(-1) });
    }
    expect(pages).toEqual(keys);
    const asked = ["b", "none", "A", "b"];
    expect(keysOf(await stage.store.records.getMany(space, "page", asked))).toEqual(["b", "A", "b"]);
    // Page by page, also if the loop deletes what it has read.
    const all: string[][] = [];
    for await (const page of recordPages(stage.store.records, space, "page", { prefix: "a/", pageSize: 2 })) {
      all.push(keysOf(page));
      await stage.store.records.write(space, keysOf(page).map(drop));
    }
    expect(all).toEqual([["a/", "a/1"], ["a/10", "a/2"], ["a/\u{10ffff}"]]);
    expect(await list(stage, space, { prefix: "a/" })).toEqual([]);
  },

  "Spaces and kinds are isolated from each other": async (stage) => {
    const [here, there] = [newSpace(), newSpace()];
    await stage.store.records.write(here, [put("a", 1), { type: "put", kind: "run", key: "a", value: 2 }]);
    await stage.store.records.write(there, [put("a", 3), drop("b")]);
    expect((await stage.store.records.get(here, "page", "a"))?.value).toBe(1);
    expect((await stage.store.records.get(here, "run", "a"))?.value).toBe(2);
    expect((await stage.store.records.get(there, "page", "a"))?.value).toBe(3);
    await stage.store.records.write(here, [drop("a")]);
    expect(await list(stage, here)).toEqual([]);
    expect(await stage.store.records.list(here, "run", { limit: 5 })).toHaveLength(1);
    expect(await list(stage, there)).toHaveLength(1);
    expect(await stage.store.records.list(newSpace(), "run", { limit: 5 })).toEqual([]);
  },

  "A change with a stale version is a conflict that names the key": async (stage) => {
    const space = newSpace();
    const { records } = stage.store;
    const versionOf = async (key: string) => (await records.get(space, "page", key))?.version;
    await records.write(space, [put("a", "first", 0)]);
    await records.write(space, [put("a", "second", 1)]);
    await records.write(space, [put("a", "third")]);
    expect(await records.get(space, "page", "a")).toMatchObject({ value: "third", version: 3 });
    for (const version of [0, 2, 4]) {
      const refused = records.write(space, [put("b", "beside it"), put("a", "late", version), put("c", "after it")]);
      await expect(refused).rejects.toMatchObject({
        code: "conflict",
        message: expect.stringMatching(/page "a".*version 3/),
        fix: expect.stringContaining("again"),
      });
    }
    await expect(records.write(space, [put("none", 1, 7)])).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining('"none"'),
    });
    expect(keysOf(await list(stage, space))).toEqual(["a"]);
    // Changes are applied in order, also within one write.
    await records.write(space, [put("a", "fourth", 3), put("a", "fifth", 4), put("d", 1), drop("d"), drop("none")]);
    expect([await versionOf("a"), await versionOf("d")]).toEqual([5, undefined]);
    await records.write(space, [drop("a"), put("a", "anew", 0)]);
    expect(await records.get(space, "page", "a")).toMatchObject({ value: "anew", version: 1 });
  },

  "Thousands of changes are written atomically": defaultTenantOnly(async (stage) => {
    const space = newSpace();
    const { records } = stage.store;
    const keys = numbers(5_000).map((number) => `key ${String(number).padStart(5, "0")}`);
    await records.write(
      space,
      keys.map((key, index) => put(key, { index })),
    );
    expect(keysOf(await list(stage, space))).toEqual(keys);
    const backwards = keys.toReversed();
    expect(keysOf(await records.getMany(space, "page", backwards))).toEqual(backwards);
    const doomed = keys.map((key, index) => put(key, "changed", index === 4_900 ? 2 : 1));
    await expect(records.write(space, doomed)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining(keys[4_900]!),
    });
    expect((await list(stage, space)).filter(({ version }) => version !== 1)).toEqual([]);
    await records.write(
      space,
      keys.map((key, index) => (index % 2 ? drop(key) : put(key, "changed", 1))),
    );
    const left = await list(stage, space);
    expect(left).toHaveLength(2_500);
    expect(new Set(left.map(({ value, version }) => `${String(value)} ${version}`))).toEqual(new Set(["changed 2"]));
  }),

  "One of several concurrent changes to a version wins; unconditional changes do not deadlock": defaultTenantOnly(
    async (stage) => {
      const space = newSpace();
      const stores = [stage.store, stage.other];
      await stage.store.records.write(space, [put("count", 0)]);
      const count = async (store: (typeof stores)[number]): Promise<void> => {
        let left = 10;
        while (left > 0) {
          const { value, version } = (await store.records.get(space, "page", "count"))!;
          try {
            await store.records.write(space, [put("count", (value as number) + 1, version)]);
            left -= 1;
          } catch (error) {
            expect(error).toMatchObject({ code: "conflict" });
          }
        }
      };
      await Promise.all([...stores, ...stores].map(count));
      expect(await stage.store.records.get(space, "page", "count")).toMatchObject({ value: 40, version: 41 });
      // The same keys in opposite orders must not deadlock.
      const keys = numbers(100).map(String);
      const both = numbers(12).map((number) =>
        stores[number % 2]!.records.write(
          space,
          (number % 2 ? keys : keys.toReversed()).map((key) => put(key, number)),
        ),
      );
      await Promise.all(both);
      const found = await stage.store.records.getMany(space, "page", keys);
      expect(found.every(({ version }) => version === 12)).toBe(true);
      expect(new Set(found.map(({ value }) => value)).size).toBe(1);
    },
  ),

  "A name that cannot be stored is rejected on both engines": defaultTenantOnly(async (stage) => {
    const space = newSpace();
    const { records, blobs } = stage.store;
    const invalid = { code: "invalid_request", fix: expect.any(String) };
    for (const key of ["NUL \u0000", "half a pair \ud83d", "k".repeat(2_001)]) {
      await expect(records.write(space, [put("fine", 1), put(key, 1)])).rejects.toMatchObject(invalid);
      await expect(records.get(space, "page", key)).rejects.toMatchObject(invalid);
      await expect(list(stage, space, { prefix: key })).rejects.toMatchObject(invalid);
      await expect(records.write(key, [put("fine", 1)])).rejects.toMatchObject(invalid);
      await expect(blobs.put(key, new Uint8Array())).rejects.toMatchObject(invalid);
    }
    expect(await list(stage, space)).toEqual([]);
    // Random data, because compressible names would fit into the index at any length.
    const longest = randomBytes(1_000).toString("hex");
    const kind = randomBytes(100).toString("hex");
    const wide = randomBytes(100).toString("hex");
    await records.write(wide, [{ type: "put", kind, key: longest, value: 1 }]);
    expect(keysOf(await records.list(wide, kind, { limit: 2, prefix: longest.slice(0, 1_999) }))).toEqual([longest]);
  }),

  "Content is found by its hash, from empty to several chunks, and stored once": defaultTenantOnly(async (stage) => {
    const space = newSpace();
    const other = newSpace();
    for (const size of [0, 1, 1_048_576, 2_500_000]) {
      const content = new Uint8Array(randomBytes(size));
      const sha256 = createHash("sha256").update(content).digest("hex");
      const stored = numbers(6).map((number) => (number % 2 ? stage.store : stage.other).blobs.put(space, content));
      expect(new Set(await Promise.all(stored))).toEqual(new Set([sha256]));
      expect(await stage.store.blobs.put(space, content)).toBe(sha256);
      const found = await stage.other.blobs.get(space, sha256);
      expect(createHash("sha256").update(found!).digest("hex")).toBe(sha256);
      expect(await stage.store.blobs.get(other, sha256)).toBeUndefined();
    }
    expect(await stage.store.blobs.prune(space, new Set())).toBe(4);
    const mark = randomBytes(30).toString("base64");
    const sha256 = await stage.store.blobs.put(space, Buffer.from(mark));
    await stage.store.blobs.put(space, Buffer.from(mark));
    const once = (await stage.fixture.dump(stage.location)).split(sha256).length;
    await stage.store.blobs.put(other, Buffer.from(mark));
    expect([once, (await stage.fixture.dump(stage.location)).split(sha256).length]).toEqual([2, 3]);
    expect(await stage.store.blobs.get(space, "none")).toBeUndefined();
  }),

  "Prune removes unreferenced blobs of its own space only": async (stage) => {
    const [space, other] = [newSpace(), newSpace()];
    const { blobs } = stage.store;
    const hashes = await Promise.all(numbers(50).map((number) => blobs.put(space, Buffer.from(`blob ${number}`))));
    await blobs.put(other, Buffer.from("blob 1"));
    const keep = new Set([...hashes.slice(10, 15), "none"]);
    expect(await blobs.prune(space, keep)).toBe(45);
    expect(await blobs.prune(space, keep)).toBe(0);
    expect(await blobs.get(space, hashes[0]!)).toBeUndefined();
    expect(Buffer.from((await blobs.get(space, hashes[12]!))!).toString()).toBe("blob 13");
    expect(await blobs.get(other, hashes[0]!)).toBeDefined();
    // A pruned blob can be put again.
    expect(await blobs.put(space, Buffer.from("blob 1"))).toBe(hashes[0]);
    expect(await blobs.get(space, hashes[0]!)).toBeDefined();
  },
};
