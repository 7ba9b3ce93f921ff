import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { README_PROMISES } from "./promises.ts";

const root = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");

/** The list items of a section, without Markdown marks and line breaks. */
const itemsOf = (page: string, heading: string): string[] => {
  const section = page.split(`## ${heading}\n`)[1]!.split("\n## ")[0]!;
  return section
    .split(/^- /m)
    .slice(1)
    .map((item) =>
      item
        .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1")
        .replaceAll(/\*\*|`/g, "")
        .replaceAll(/\s+/g, " ")
        .trim(),
    );
};

test("README's promises are the claims of the list, each with a test", () => {
  const items = itemsOf(read("README.md"), "What you can rely on");
  expect(items.length).toBeGreaterThan(5);
  expect(README_PROMISES.map(({ claim }) => claim).join(" ")).toBe(items.join(" "));
  expect(README_PROMISES.filter(({ tests }) => tests.length === 0)).toEqual([]);
});

test("each named test exists and is not skipped", () => {
  const missing = README_PROMISES.flatMap(({ tests }) =>
    tests.filter(([file, title]) => {
      const source = read(file);
      const at = ['"', "`"].map((quote) => source.indexOf(`${quote}${title}${quote}`)).find((index) => index >= 0);
      const line = at === undefined ? "" : source.slice(source.lastIndexOf("\n", at) + 1, at);
      return at === undefined || /\.(skip|todo|runIf\(inject\("soak"\)\))\(/.test(line);
    }),
  );
  expect(missing).toEqual([]);
});
