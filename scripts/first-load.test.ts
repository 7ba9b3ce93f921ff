import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { firstLoad } from "./first-load.ts";

test("counts the entry and its static imports once each, and no dynamic imports", () => {
  const folder = mkdtempSync(join(tmpdir(), "tandem-page-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "assets"));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write(
    "index.html",
    '<link rel="modulepreload" href="/assets/a.js"><script type="module" src="/assets/main.js"></script>',
  );
  write(
    "assets/main.js",
    'import{b}from"./a.js";import"./b.js";const later=()=>import("./later.js");export{x}from"./c.js";',
  );
  write("assets/a.js", 'import{c}from"./b.js";');
  for (const name of ["b", "c", "later"]) write(`assets/${name}.js`, "1;");
  const { files, kilobytes } = firstLoad(folder);
  expect(files.toSorted()).toEqual(["a", "b", "c", "main"].map((name) => `assets/${name}.js`));
  expect(kilobytes).toBeGreaterThan(0);
});
