import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { expect, test } from "vitest";

/** A folder may import only from layers below its own. Shared code belongs in a lower layer, not in a page. */
const LAYERS: readonly (readonly string[])[] = [
  ["api", "text"],
  ["live"],
  ["state", "ui"],
  ["chart", "diff", "prompt", "tool"],
  ["settings"],
  ["cassettes", "changes", "context", "export", "home", "inbox"],
  ["demo"],
  ["session", "shell"],
  ["router.tsx"],
  ["main.tsx"],
];

const IMPORT = /(?:from|import|import\()\s*"(\.\.?\/[^"]+\.tsx?)"/g;

const source = import.meta.dirname;
const folderOf = (path: string): string => relative(source, path).split(sep)[0]!;
const layerOf = (folder: string): number => LAYERS.findIndex((layer) => layer.includes(folder));

test("folders import only from lower layers", () => {
  const files = globSync("**/*.{ts,tsx}", { cwd: source })
    .filter((file) => !file.endsWith(".test.ts") && !file.startsWith("browser"))
    .map((file) => join(source, file));
  expect(files.map(folderOf).filter((folder) => layerOf(folder) === -1)).toEqual([]);
  const upward = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(IMPORT)]
      .map(([, path]) => join(dirname(file), path!))
      .filter((target) => folderOf(target) !== folderOf(file) && layerOf(folderOf(target)) >= layerOf(folderOf(file)))
      .map((target) => `${relative(source, file)} imports ${relative(source, target)}`),
  );
  expect(upward).toEqual([]);
});
