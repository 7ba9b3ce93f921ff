import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";

// Its types are checked; it is not run, because it needs a login.
export type * from "../docs/examples/rivers.ts";

const root = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const pages = globSync("**/*.md", { cwd: root, exclude: (name) => /^(node_modules|\..+)$/.test(name) });

const withoutCode = (page: string): string => page.replaceAll(/^```[\s\S]*?^```/gm, "").replaceAll(/`[^`\n]*`/g, "");

/** GitHub's heading anchors. */
const anchorsOf = (page: string): string[] =>
  [...page.replaceAll(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

describe("docs", () => {
  test("every relative link resolves", () => {
    const links = pages.flatMap((page) =>
      [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => ({ page, target: target! })),
    );
    const broken = links.filter(({ page, target }) => {
      if (/^https?:/.test(target)) return false;
      const [path, anchor] = target.split("#") as [string, string?];
      const file = path ? join(dirname(page), path) : page;
      return !existsSync(join(root, file)) || (anchor !== undefined && !anchorsOf(read(file)).includes(anchor));
    });
    expect(links.length).toBeGreaterThan(50);
    expect(broken.map(({ page, target }) => `${page}: ${target}`)).toEqual([]);
  });

  test("every page of docs/ is in its index", () => {
    const index = read("docs/README.md") + read("docs/decisions/README.md");
    const missing = pages
      .filter((page) => page.startsWith("docs/") && !page.endsWith("README.md"))
      .filter((page) => !index.includes(`(${page.replace(/^docs\/(decisions\/)?/, "")})`));
    expect(missing).toEqual([]);
  });

  test("examples in pages equal the files that they name", () => {
    const examples = [
      ...pages
        .map(read)
        .join("\n")
        .matchAll(/^<!-- (docs\/examples\/\S+) -->\n```(?:ts|python)\n([\s\S]*?)^```/gm),
    ];
    expect(new Set(examples.map(([, file]) => file))).toEqual(
      new Set(globSync("docs/examples/*", { cwd: root }).filter((file) => !file.endsWith("-script.ts"))),
    );
    for (const [, file, code] of examples) expect(code).toBe(read(file!));
  });

  test("the assertions of the rehearsal example hold", async () => {
    await expect(import("../docs/examples/rehearsed-loop.ts")).resolves.toBeDefined();
  });
});
