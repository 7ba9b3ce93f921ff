import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Words of version 0.1 that have a standard word now. */
const BANNED = [
  /\b(nobody|somebody|whoever|anybody|everybody)\b/i,
  /\b(mend|mends|mended|goes on|go on|went on|stands in|take up|takes up|taken up|for good)\b/i,
  /\b(is|are|was|not) up\b(?! to)|that is up/,
  /\bpayer\b|\bpays\b|who pays|who answers/i,
  /rehearsed agent|prepared words|stand-in/i,
  /at most so (many|much)|may be given more than once|not ask"|of its own\b|of yours\b/,
  /is left out|was left out|were left out|as it is\b|take(s|n)? .{0,20}back/i,
  /allow-everything|May do all|Ask nothing/,
  /"(What|Who) [a-z]+ (is|was|has|are|does) [^?]*"/,
];

const SOURCE = new URL(".", import.meta.url);

// The demo tells stories, and aliases.ts has the old names.
const sources = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter(
  (path) =>
    path.endsWith(".ts") && !/\.test\.ts$|(^|\/)(testing|faults|demo|demo-context)\/|demo\.ts$|aliases\.ts$/.test(path),
);

/** String literals that have more than one word. */
function texts(path: string): string[] {
  const code = readFileSync(new URL(path, SOURCE), "utf8")
    .replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, "")
    .replaceAll(/(^|\s)\/\/.*$/gm, "$1");
  return [...code.matchAll(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'/g)]
    .map(([literal]) => literal.replaceAll(/\$\{[^}]*\}/g, "…"))
    .filter((literal) => literal.includes(" "));
}

test("no text of the command uses a banned word", () => {
  const found = sources.flatMap((path) =>
    texts(path).flatMap((text) => BANNED.filter((banned) => banned.test(text)).map(() => `${path}: ${text}`)),
  );
  expect(found).toEqual([]);
});
