import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PageFiles } from "./page-files.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-page-"));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), "<title>The page</title>");
  await writeFile(join(folder, "assets", "main.js"), "1;");
});
afterAll(() => rm(folder, { recursive: true }));

const ask = (path: string) => new PageFiles(folder).answer("GET", path, { encoding: "", tag: "" });

test.each(["/", "/inbox", "/sessions/sesn_1", "/context/tables/shop/main.orders", "/context/wiki/a.js"])(
  "%s is a place in the page",
  async (path) => expect(await (await ask(path))?.text()).toContain("The page"),
);

test("files are served, and what is none of them is not there", async () => {
  expect(await (await ask("/assets/main.js"))?.text()).toBe("1;");
  expect((await ask("/assets/gone.js"))?.status).toBe(404);
  expect((await ask("/robots.txt"))?.status).toBe(404);
  expect(await ask("/v1/context")).toBeUndefined();
});
