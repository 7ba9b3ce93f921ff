import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildDocs } from "./build-docs.ts";

let folder: string;
let files: Set<string>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tandem-docs-site-"));
  buildDocs(folder);
  files = new Set(globSync("**/*.*", { cwd: folder }));
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (file: string): string => readFileSync(join(folder, file), "utf8");
const pages = (): string[] => [...files].filter((file) => file.endsWith(".html"));

test("every link, anchor, picture, style and script of the site resolves inside it", () => {
  const ids = new Map(
    pages().map((page) => [page, new Set([...read(page).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
  const addresses = pages().flatMap((page) =>
    [...read(page).matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, address]) => ({ page, address: address! })),
  );
  const broken = addresses.filter(({ page, address }) => {
    if (/^https?:/.test(address)) return false;
    const [path, anchor] = address.split("#") as [string, string?];
    const file = path === "" ? page : normalize(join(dirname(page), path));
    return !files.has(file) || (anchor !== undefined && !ids.get(file)?.has(anchor));
  });
  expect(addresses.length).toBeGreaterThan(1000);
  expect(broken).toEqual([]);
});

test("the site loads nothing from other hosts and has no inline script or style", () => {
  for (const page of pages()) {
    const html = read(page);
    expect(html, page).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect([...html.matchAll(/<(?:script|link|img)\b[^>]*(?:src|href)="(?:https?:)?\/\/[^>]*>/g)].map(String)).toEqual(
      [],
    );
    expect([...html.matchAll(/<script>|<style| style="| on\w+="/g)].map(String), page).toEqual([]);
  }
});

test("headings have one id each, and pictures a description", () => {
  for (const page of pages()) {
    const html = read(page);
    expect(html.match(/<h1/g), page).toHaveLength(1);
    expect(html.match(/<img (?![^>]*alt=")/g), page).toBeNull();
    const ids = [...html.matchAll(/<h[1-6] id="([^"]+)"/g)].map(([, id]) => id);
    expect(
      ids.filter((id, at) => ids.indexOf(id) !== at),
      page,
    ).toEqual([]);
  }
});

test("the search index has the text of every page", () => {
  const json = read("search-index.js").replace(/^tandemSearchIndex\(|\);\n$/g, "");
  const index = JSON.parse(json) as [string, string, [string, string, string][]][];
  expect(index.map(([path]) => path).sort()).toEqual(pages().sort());
  const [, title, sections] = index.find(([path]) => path === "guides/rules.html")!;
  expect(title).toBe("Rules");
  expect(sections.find(([anchor]) => anchor === "paths")?.[2]).toContain("src/**");
});
