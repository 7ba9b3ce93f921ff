import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { apiReference } from "./api-reference.ts";
import { routePages } from "./route-pages.ts";

const PAGES = "../../../../../docs/reference/api";
const FOLDER = join(import.meta.dirname, PAGES);

// `vitest run -u` rewrites them.
test("docs/reference/api.md matches the routes", async () => {
  await expect(apiReference()).toMatchFileSnapshot("../../../../../docs/reference/api.md");
});

test("docs/reference/api has a page for each group, with the requests and responses of its routes", async () => {
  const pages = routePages();
  for (const [name, text] of pages) await expect(text).toMatchFileSnapshot(`${PAGES}/${name}.md`);
  const files = existsSync(FOLDER) ? readdirSync(FOLDER) : [];
  expect(files.filter((file) => !pages.has(file.replace(/\.md$/, "")))).toEqual([]);
});
