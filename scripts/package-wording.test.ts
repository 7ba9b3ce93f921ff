import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** Words of version 0.1 that have a standard word now. */
const BANNED = [
  /\b(nobody|somebody|anybody|everybody)\b/i,
  /\b(mends?|mended|goes on|went on|gone on|stands in|takes? up|took up|taken up|for good)\b/i,
  /\b(cannot be had|(is|was|were) left out|(becomes?|became) of|looked at)\b|(who|whoever) (answers|pays)/i,
  /\b(is|are|was|none is) up\b(?! to)/,
  /^["`](What|Who|Whose|Whom) [^?]*$/,
];

const ROOT = fileURLToPath(new URL("..", import.meta.url));

// Prompts and contract suites have sentences in the words of people.
const sources = globSync("packages/*/src/**/*.ts", { cwd: ROOT }).filter(
  (path) => !/\.test\.ts$|\/(testing|contract|rehearsal|invariants)\/|-prompt\.ts$/.test(path),
);

/** String literals that have more than one word. */
function texts(path: string): string[] {
  const code = readFileSync(`${ROOT}/${path}`, "utf8")
    .replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, "")
    .replaceAll(/(^|\s)\/\/.*$/gm, "$1");
  return [...code.matchAll(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g)]
    .map(([literal]) => literal.replaceAll(/\$\{[^}]*\}/g, "…"))
    .filter((literal) => literal.includes(" "));
}

test("no text of a package uses a banned word", () => {
  const found = sources.flatMap((path) =>
    texts(path).flatMap((text) => BANNED.filter((banned) => banned.test(text)).map(() => `${path}: ${text}`)),
  );
  expect(found).toEqual([]);
});
