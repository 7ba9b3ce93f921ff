import { expect } from "vitest";
import type { SearchQuery } from "../search-index.ts";
import { doc, keysFound, newSpace } from "./search-samples.ts";
import { numbers, type Stage, type Behaviours } from "./storage-stage.ts";

/** A vector that points at this angle, in degrees. */
const at = (degrees: number): Float32Array => {
  const angle = (degrees / 180) * Math.PI;
  return Float32Array.of(3 * Math.cos(angle), 3 * Math.sin(angle), 0);
};

async function near(stage: Stage, space: string, query: Partial<SearchQuery>): Promise<string[]> {
  const hits = await stage.store.search.search(space, { text: "", vectorModel: "m", limit: 10, ...query });
  return hits.map(({ key }) => key);
}

export const verifySearchVectors: Behaviours = {
  "The nearest vectors of the query's model are found and fused with full text": async (stage) => {
    const space = newSpace();
    const { search } = stage.store;
    await search.put(space, [
      doc("near", { text: "alpha", vector: at(10), vectorModel: "m" }),
      doc("nearer", { text: "beta", vector: at(5), vectorModel: "m" }),
      doc("far", { text: "gamma alpha", vector: at(80), vectorModel: "m" }),
      doc("away", { text: "delta", vector: at(180), vectorModel: "m" }),
      doc("other-model", { text: "epsilon", vector: at(0), vectorModel: "n" }),
      doc("other-length", { text: "zeta", vector: Float32Array.of(1, 0), vectorModel: "m" }),
      doc("without", { text: "eta alpha" }),
    ]);
    expect(await near(stage, space, { vector: at(0) })).toEqual(["nearer", "near", "far"]);
    expect(await near(stage, space, { vector: at(0), limit: 1 })).toEqual(["nearer"]);
    expect(await near(stage, space, { vector: at(0), vectorModel: "n" })).toEqual(["other-model"]);
    expect(await near(stage, space, { vector: at(0), vectorModel: "none" })).toEqual([]);
    expect(await near(stage, space, { vector: Float32Array.of(0, 0, 0) })).toEqual([]);
    const hits = await search.search(space, { text: "alpha", vector: at(0), vectorModel: "m", limit: 10 });
    // `near` is found by both ways and ranks before documents found by one.
    expect(hits[0]).toMatchObject({ key: "near", by: ["words", "meaning"], snippet: "«alpha»" });
    expect(hits.find(({ key }) => key === "nearer")).toMatchObject({ by: ["meaning"], snippet: "beta" });
    expect(hits.find(({ key }) => key === "without")).toMatchObject({ by: ["words"] });
    expect(hits.map(({ key }) => key)).not.toContain("away");
  },

  "Vectors changed or removed by another process are seen at once": async (stage) => {
    const space = newSpace();
    const many = numbers(2_500).map((number) => doc(`${number}`, { vector: at(20 + number / 100), vectorModel: "m" }));
    await stage.store.search.put(space, many);
    const nearest = (): Promise<string[]> => near(stage, space, { vector: at(0), limit: 3 });
    expect(await nearest()).toEqual(["1", "2", "3"]);
    await stage.other.search.put(space, [doc("2000", { vector: at(1), vectorModel: "m" })]);
    expect(await nearest()).toEqual(["2000", "1", "2"]);
    await stage.other.search.put(space, [doc("new", { vector: at(2), vectorModel: "m" })]);
    expect(await nearest()).toEqual(["2000", "new", "1"]);
    await stage.other.search.remove(space, ["2000"]);
    expect(await nearest()).toEqual(["new", "1", "2"]);
    // Documents without a vector, or with another model's vector, are not found.
    await stage.other.search.put(space, [doc("new"), doc("1", { vector: at(1), vectorModel: "n" })]);
    expect(await nearest()).toEqual(["2", "3", "4"]);
    await stage.store.search.put(space, [doc("1", { vector: at(1), vectorModel: "m" })]);
    expect(await Promise.all([nearest(), nearest(), nearest()])).toEqual([
      ["1", "2", "3"],
      ["1", "2", "3"],
      ["1", "2", "3"],
    ]);
  },

  "Kinds and filters are exact, also for vectors; spaces are isolated": async (stage) => {
    const [space, elsewhere] = [newSpace(), newSpace()];
    const { search } = stage.store;
    const vector = at(0);
    const put = (key: string, kind: string, filters: Record<string, string | string[]>) =>
      doc(key, { kind, filters, text: "orders", vector, vectorModel: "m" });
    await search.put(space, [
      put("a", "table", { connection: "shop", tag: ["billing", "core"] }),
      put("b", "page", { connection: "shop", tag: "billing" }),
      put("c", "table", { connection: "Shop", tag: [] }),
      put("d", "table", { connection: "shop public", "odd name": "x\u0000'\"«»" }),
    ]);
    await search.put(elsewhere, [put("e", "table", { connection: "shop" })]);
    const both = async (query: Partial<SearchQuery>): Promise<string[]> => {
      const words = await search.search(space, { text: "orders", limit: 10, ...query });
      const meaning = await near(stage, space, { vector, ...query, text: "" });
      expect(meaning.toSorted()).toEqual(words.map(({ key }) => key).toSorted());
      return meaning.toSorted();
    };
    expect(await both({})).toEqual(["a", "b", "c", "d"]);
    expect(await both({ kinds: ["table"] })).toEqual(["a", "c", "d"]);
    expect(await both({ kinds: ["table", "page"] })).toEqual(["a", "b", "c", "d"]);
    expect(await both({ kinds: [] })).toEqual([]);
    expect(await both({ kinds: ["Table"] })).toEqual([]);
    expect(await both({ filters: { connection: "shop" } })).toEqual(["a", "b"]);
    expect(await both({ filters: { connection: "Shop" } })).toEqual(["c"]);
    expect(await both({ filters: { connection: "shop", tag: "core" } })).toEqual(["a"]);
    expect(await both({ filters: { tag: "billing" }, kinds: ["page"] })).toEqual(["b"]);
    expect(await both({ filters: { "odd name": "x\u0000'\"«»" } })).toEqual(["d"]);
    expect(await both({ filters: { tag: "shop" } })).toEqual([]);
    expect(await both({ filters: { kind: "table" } })).toEqual([]);
    expect(await keysFound(stage, elsewhere, "orders")).toEqual(["e"]);
    // A filter's value is not searchable text.
    expect(await keysFound(stage, space, "billing")).toEqual([]);
    await search.put(space, [put("a", "table", { connection: "crm" })]);
    expect(await both({ filters: { connection: "shop" } })).toEqual(["b"]);
  },

  "Invalid documents are rejected with a message; unusual text is stored": async (stage) => {
    const space = newSpace();
    const { search } = stage.store;
    const refused = { code: "invalid_request" };
    await expect(search.put(space, [doc("a\u0000b")])).rejects.toMatchObject(refused);
    await expect(search.put("", [doc("x".repeat(3_000))])).rejects.toMatchObject(refused);
    await expect(search.put(space, [doc("a", { vector: Float32Array.of(1, Number.NaN) })])).rejects.toMatchObject(
      refused,
    );
    await expect(search.put(space, [doc("a", { vector: new Float32Array() })])).rejects.toMatchObject(refused);
    const text = `odd \u0000 text \ud800 here ' \\ " ${"longword".repeat(500)} ${"many different words ".repeat(100)}`;
    await search.put(space, [doc("odd", { title: "T\u0000", text })]);
    expect(await search.search(space, { text: "odd text", limit: 1 })).toMatchObject([{ key: "odd", title: "T " }]);
    // More text than one index entry can hold.
    const long = numbers(20_000).map((number) => `w${number * 7919}${"долго".repeat(10)}`);
    await search.put(space, [doc("long", { text: long.join(" ") })]);
    expect(await keysFound(stage, space, long[9]!)).toEqual(["long"]);
  },

  "Deleting a space removes its words, and its name can be reused": async (stage) => {
    const [space, other] = [newSpace(), newSpace()];
    const { search } = stage.store;
    const secret = "geheimnisvoll";
    const fields = { vector: at(0), vectorModel: "m" };
    await search.put(
      space,
      numbers(250).map((number) => doc(`${number}`, { text: `${secret} words`, ...fields })),
    );
    await search.put(other, [doc("kept", { text: "words that stay", ...fields })]);
    expect(await near(stage, space, { vector: at(0) })).toHaveLength(10);
    // FTS5 stores terms prefix-compressed, so look for the word without its first letters.
    const isThere = async (): Promise<boolean> => (await stage.fixture.dump(stage.location)).includes(secret.slice(4));
    expect(await isThere()).toBe(true);
    await stage.other.deleteSpace(space);
    expect(await keysFound(stage, space, secret)).toEqual([]);
    expect((await search.hashes(space)).size).toBe(0);
    expect(await keysFound(stage, other, "words")).toEqual(["kept"]);
    expect(await near(stage, other, { vector: at(0) })).toEqual(["kept"]);
    expect(await isThere()).toBe(false);
    await search.put(space, [doc("again", { text: "fresh", vector: at(90), vectorModel: "m" })]);
    expect(await near(stage, space, { vector: at(80) })).toEqual(["again"]);
    expect(await keysFound(stage, space, "fresh")).toEqual(["again"]);
  },
};
