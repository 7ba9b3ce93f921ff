import { TandemError } from "@tandem/protocol";
import { expect, it } from "vitest";
import { diffSource } from "./diff-source.ts";
import { type Fetched, fetchSource } from "./fetch-source.ts";
import type { Provenance } from "./provenance.ts";
import type { Source } from "./source.ts";
import { makeFiles } from "./testing/make-files.ts";
import { textSource } from "./text-source.ts";

const known = (path: string, sha256: string, citation = `docs/${path.replace(/\.md$/, "")}`): Provenance => ({
  source: "docs",
  path,
  sha256,
  citation,
  lane: "light",
  artifacts: [],
  job: "job_1",
  at: "2026-01-01T00:00:00Z",
});
const fetched = (items: Record<string, string>, more: Partial<Fetched> = {}): Fetched => ({
  source: "docs",
  type: "folder",
  items: Object.entries(items).map(([path, sha256]) => ({ source: "docs", type: "folder", path, sha256, size: 1 })),
  ignored: 0,
  skipped: [],
  hidden: [],
  ...more,
});
const paths = (entries: readonly { item: { path: string } }[]) => entries.map(({ item }) => item.path);

it("distinguishes added, changed, unchanged, renamed and deleted", () => {
  const diff = diffSource(fetched({ "a.md": "1", "b.md": "2x", "new.md": "3", "moved/d.md": "4" }), [
    known("a.md", "1"),
    known("b.md", "2"),
    known("d.md", "4"),
    known("gone.md", "5"),
  ]);
  expect(paths(diff.unchanged)).toEqual(["a.md"]);
  expect(paths(diff.changed)).toEqual(["b.md"]);
  expect(diff.added.map(({ path, citation }) => [path, citation])).toEqual([["new.md", "docs/new"]]);
  expect(diff.deleted.map(({ path }) => path)).toEqual(["gone.md"]);
  // Its citation stays valid.
  expect(diff.renamed).toMatchObject([{ item: { path: "moved/d.md", citation: "docs/d" }, before: { path: "d.md" } }]);
});

it("pairs each of two equal files with one deleted file", () => {
  const diff = diffSource(fetched({ "x.md": "1", "y.md": "1", "z.md": "1" }), [known("a.md", "1"), known("b.md", "1")]);
  expect(paths(diff.renamed)).toEqual(["x.md", "y.md"]);
  expect(diff.added.map(({ path }) => path)).toEqual(["z.md"]);
});

it("never reuses or removes a citation", () => {
  const diff = diffSource(fetched({ "Refund Policy.md": "1", "refund-policy.md": "2", "refund-policy.html": "3" }), [
    known("refund-policy.md", "2", "docs/refund-policy"),
  ]);
  const citations = diff.added.map(({ citation }) => citation);
  expect(citations).toEqual([expect.stringMatching(/^docs\/refund-policy-[0-9a-f]{6}$/), "docs/refund-policy-html"]);
});

it.each([
  ["was skipped itself", ["gone.md"], []],
  ["is in a folder that cannot be read", ["go"], []],
  ["may be hidden by anything", [""], []],
  ["is missing though another was skipped", ["other.md"], ["gone.md"]],
])("%s counts as deleted only if it really is", (_, hidden, deleted) => {
  const diff = diffSource(fetched({ "a.md": "1" }, { hidden }), [known("a.md", "1"), known("gone.md", "2")]);
  expect(diff.deleted.map(({ path }) => path)).toEqual(deleted);
});

it("deletes nothing for an empty, missing or partial source", async () => {
  const before = [known("a.md", "1")];
  const empty = diffSource(fetched({}), before);
  expect(empty).toMatchObject({ deleted: [], doubt: { code: "source_empty" } });

  await using files = await makeFiles({});
  const keep = async () => "sha";
  const missing = await fetchSource(files.source({ path: "unmounted" }), { keep });
  expect(missing).toMatchObject({ skipped: [{ path: "", error: { code: "source_missing" } }] });
  expect(diffSource(missing, before)).toMatchObject({ deleted: [] });

  const pasted = await fetchSource(textSource("Refunds take 30 days.", { name: "docs" }), { keep });
  expect(pasted.items).toMatchObject([{ path: expect.stringMatching(/^refunds-take-30-days-[0-9a-f]{8}\.md$/) }]);
  expect(diffSource(pasted, before)).toMatchObject({ deleted: [], added: [{}] });
});

it("rejects if the content cannot be stored, because that is not the source's fault", async () => {
  await using files = await makeFiles({ "a.md": "a", "b.md": "b" });
  const keep = async () => Promise.reject(new TandemError("unavailable", "The database is away."));
  await expect(fetchSource(files.source(), { keep })).rejects.toMatchObject({ code: "unavailable" });
});

it("lists an unreadable item and reads the others", async () => {
  const item = (path: string, read: () => Promise<Uint8Array>) => ({
    type: "item" as const,
    item: { path, size: 1, read },
  });
  const source: Source = {
    name: "docs",
    type: "folder",
    lists: "all",
    async *list() {
      yield item("b.md", async () => Promise.reject(new TandemError("unreadable", "b.md cannot be read.")));
      yield item("a.md", async () => new Uint8Array([65]));
    },
  };
  const result = await fetchSource(source, { keep: async (bytes) => `sha of ${bytes.length}` });
  expect(result).toMatchObject({
    items: [{ path: "a.md", sha256: "sha of 1", size: 1 }],
    skipped: [{ path: "b.md", error: { code: "unreadable" } }],
    hidden: ["b.md"],
  });
});
