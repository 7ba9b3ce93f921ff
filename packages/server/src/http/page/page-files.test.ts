import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { PageFiles } from "./page-files.ts";

const folder = await mkdtemp(join(tmpdir(), "tandem-page-"));
await mkdir(join(folder, "assets"));
await writeFile(join(folder, "index.html"), "<head><title>The page</title></head>");
const needs = [{ path: "^/sessions/(\\w+)$", modules: ["/assets/session.js"] }];
await writeFile(join(folder, "first-needs.json"), JSON.stringify(needs));
await writeFile(join(folder, "assets", "main.js"), "1;");
afterAll(() => rm(folder, { recursive: true }));

const ask = (path: string, cookie?: string) =>
  new PageFiles(folder).answer("GET", path, { encoding: "", tag: "", retireCookie: async () => cookie });

test.each(["/", "/inbox", "/sessions/sesn_1", "/context/tables/shop/main.orders", "/context/wiki/a.js"])(
  "%s is served by the page",
  async (path) => expect(await (await ask(path))?.text()).toContain("The page"),
);

test("files of the build are served, and other paths are not found", async () => {
  expect(await (await ask("/assets/main.js"))?.text()).toBe("1;");
  expect((await ask("/assets/gone.js"))?.status).toBe(404);
  expect((await ask("/robots.txt"))?.status).toBe(404);
  expect(await ask("/v1/context")).toBeUndefined();
});

test("the page preloads the modules that its path needs", async () => {
  const page = async (path: string) => (await (await ask(path))?.text()) ?? "";
  expect(await page("/sessions/sesn_1")).toContain(
    '</title><link rel="modulepreload" href="/assets/session.js"></head>',
  );
  expect(await page("/inbox")).not.toContain("<link");
});

test("the page says that an old cookie was retired, and removes it", async () => {
  const response = await ask("/", "tandem_page=; Max-Age=0");
  expect(response?.headers.get("set-cookie")).toBe("tandem_page=; Max-Age=0");
  expect(await response?.text()).toContain('<meta name="tandem-signed-out"');
  expect((await ask("/assets/main.js", "tandem_page=; Max-Age=0"))?.headers.get("set-cookie")).toBeNull();
});

test("the page is served as it was when the server started, even if a new build replaces the files", async () => {
  const old = await mkdtemp(join(tmpdir(), "tandem-page-"));
  await mkdir(join(old, "assets"));
  await writeFile(join(old, "index.html"), "<head>The old page</head>");
  await writeFile(join(old, "assets", "old.js"), "1;");
  const files = new PageFiles(old);
  const text = async (path: string) =>
    (await files.answer("GET", path, { encoding: "", tag: "", retireCookie: async () => undefined }))?.text();
  await text("/");
  await rm(join(old, "assets"), { recursive: true });
  await writeFile(join(old, "index.html"), "<head>The new page</head>");
  expect([await text("/"), await text("/assets/old.js")]).toEqual(["<head>The old page</head>", "1;"]);
  await rm(old, { recursive: true });
});
