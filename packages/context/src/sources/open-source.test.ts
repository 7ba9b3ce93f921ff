import { expect, it } from "vitest";
import { itemPaths, listed, makeFiles } from "./testing/make-files.ts";

const ID = "0a1b2c3d4e5f60718293a4b5c6d7e8f9";

it("reads a Notion database once, though it is exported twice", async () => {
  await using files = await makeFiles({
    [`Rules ${ID}.csv`]: "a\n1\n",
    [`Rules ${ID}_all.csv`]: "a\n1\n2\n",
    [`Other ${ID}.csv`]: "a\n1\n",
    [`Rules ${ID}/One ${ID}.md`]: "# One",
  });
  const entries = await listed(files.source({ type: "notion" }));
  expect(itemPaths(entries)).toEqual([`Other ${ID}.csv`, `Rules ${ID}/One ${ID}.md`, `Rules ${ID}_all.csv`]);
});

it("reads the pages of a Confluence export, without its index", async () => {
  await using files = await makeFiles({ "DOCS/index.html": "x", "DOCS/Page_1.html": "x", "DOCS/styles/site.css": "x" });
  expect(itemPaths(await listed(files.source({ type: "confluence" })))).toEqual(["DOCS/Page_1.html"]);
});
