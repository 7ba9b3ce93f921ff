import { expect, it } from "vitest";
import { MemoryRun } from "../../scan/testing/memory-run.ts";
import { sharedStore } from "../../testing/shared-store.ts";
import { putProvenance } from "../../sources/provenance.ts";
import { makeFiles } from "../../sources/testing/make-files.ts";
import { makePdf } from "../../sources/testing/make-pdf.ts";
import { openTestContext } from "../../sources/testing/open-test-context.ts";
import { stageSources } from "../../sources/stage-sources.ts";
import { DocumentThread } from "./document-thread.ts";
import { forgetDocument, keepEvidence } from "./keep-evidence.ts";
import { readChunks, readDocumentRecord, readNeighbours } from "./read-evidence.ts";

const shared = sharedStore();

type Files = Awaited<ReturnType<typeof makeFiles>>;
type Context = Awaited<ReturnType<typeof openTestContext>>;

async function keepAll(run: MemoryRun, store: Context, files: Files) {
  const [diff] = await stageSources(run, store, [files.source()]);
  return { diff: diff!, documents: await keepEvidence(run, store, diff!.added) };
}

it("stores raw bytes by hash, passages by citation, and their neighbours", async () => {
  await using files = await makeFiles({
    "a.md": "# A\n\nIntro.\n\n## One\n\nFirst.\n\n## Two\n\nSecond.\n\n## Three\n\nThird.",
  });
  await using store = await openTestContext(shared());
  const run = new MemoryRun();
  const { diff } = await keepAll(run, store, files);
  const bytes = await store.blobs.get(store.space, diff.added[0]!.sha256);
  expect(new TextDecoder().decode(bytes)).toContain("# A\n\nIntro.");
  expect((await store.records.get(store.space, "manifest", `${run.job}/docs`))?.value).toEqual({
    "a.md": diff.added[0]!.sha256,
  });
  const around = await readNeighbours(store, "docs/a#two", 1);
  expect(around.map(({ citation, content }) => [citation, content])).toEqual([
    ["docs/a#one", "First."],
    ["docs/a#two", "Second."],
    ["docs/a#three", "Third."],
  ]);
  expect(await readNeighbours(store, "docs/a#nowhere", 1)).toEqual([]);
});

it("converts nothing twice; removed passages cannot be cited or found", async () => {
  await using files = await makeFiles({ "a.md": "# A\n\n## Old\n\nobsolete\n\n## Same\n\nstays" });
  await using store = await openTestContext(shared());
  await keepAll(new MemoryRun(), store, files);
  const again = new MemoryRun();
  await keepAll(again, store, files);
  expect(again.events).toContainEqual(
    expect.objectContaining({
      type: "stage_finished",
      stage: "evidence",
      counts: { documents: 1, chunks: 2, kept: 1, skipped: 0 },
    }),
  );
  await files.write("a.md", "# A\n\n## New\n\nfresh\n\n## Same\n\nstays");
  await keepAll(new MemoryRun(), store, files);
  const found = await readChunks(store, ["docs/a#old", "docs/a#new", "docs/a#same"]);
  expect(found.map(({ citation }) => citation)).toEqual(["docs/a#new", "docs/a#same"]);
  expect(await store.search.search(store.space, { text: "obsolete", limit: 5 })).toEqual([]);
  await forgetDocument(store, "docs/a");
  expect(await readDocumentRecord(store, "docs/a")).toBeUndefined();
  expect(await readChunks(store, ["docs/a#same"])).toEqual([]);
  expect(await store.search.search(store.space, { text: "stays", limit: 5 })).toEqual([]);
});

it("keeps the citations of a moved document", async () => {
  await using files = await makeFiles({ "a.md": "# A\n\nText.", "b.md": "# B\n\nText." });
  await using store = await openTestContext(shared());
  const { documents } = await keepAll(new MemoryRun(), store, files);
  const settled = { lane: "light" as const, artifacts: [], job: "job_1", at: "2026-01-01T00:00:00Z" };
  const known = documents.map(({ source, path, sha256, citation }) => ({ source, path, sha256, citation, ...settled }));
  await store.records.write(store.space, known.map(putProvenance));
  await files.remove("a.md");
  await files.write("moved/z.md", "# A\n\nText.");
  const run = new MemoryRun();
  const [diff] = await stageSources(run, store, [files.source()]);
  expect(diff).toMatchObject({ added: [], changed: [], deleted: [], renamed: [{ before: { path: "a.md" } }] });
  await keepEvidence(
    run,
    store,
    diff!.renamed.map(({ item }) => item),
  );
  expect(await readChunks(store, ["docs/a#top"])).toMatchObject([{ path: "moved/z.md", content: "Text." }]);
});

it("skips and lists unreadable documents, and completes the rest", async () => {
  await using files = await makeFiles({
    "good.md": "# Good\n\nText.",
    "good.pdf": makePdf(["Thirty days."]),
    "broken.pdf": "%PDF-1.7 broken",
    "locked.pdf": makePdf(["x"], { encrypted: true }),
    "latin.md": Buffer.from("Gr\xfc\xdfe", "latin1"),
    "deep.html": `${"<div>".repeat(50_000)}x`,
    "quotes.md": `${">".repeat(20_000)} x`,
    "empty.md": "",
    "picture.png": "PNG",
  });
  await using store = await openTestContext(shared());
  const run = new MemoryRun();
  const { documents } = await keepAll(run, store, files);
  expect(documents.map(({ path }) => path)).toEqual(["good.md", "good.pdf"]);
  expect(Object.fromEntries(run.skipped.map(({ item, code }) => [item, code]))).toEqual({
    "docs/broken.pdf": "broken",
    "docs/deep.html": "broken",
    "docs/empty.md": "no_text",
    "docs/latin.md": "not_text",
    "docs/locked.pdf": "encrypted",
    "docs/quotes.md": "broken",
  });
  for (const { message } of run.skipped) expect(message).toMatch(/^\S+ [^\n]+\.$/);
  expect(await readChunks(store, ["docs/good-pdf#page-1"])).toMatchObject([{ content: "Thirty days." }]);
});

it("replaces a thread that exceeds its deadline, and reads the next document", async () => {
  const document = (text: string) => ({
    citation: "docs/a",
    type: "folder" as const,
    path: "a.html",
    bytes: new TextEncoder().encode(text),
  });
  await using thread = new DocumentThread({ deadlineMs: 3_000 });
  const heavy = thread.convert(document(`<p>${"<i>x</i><b>y</b>".repeat(500_000)}</p>`));
  await expect(heavy).rejects.toMatchObject({ code: "timeout", message: "a.html could not be read within 3 seconds." });
  expect(await thread.convert(document("<p>Next</p>"))).toMatchObject({ chunks: [{ content: "Next" }] });
});
