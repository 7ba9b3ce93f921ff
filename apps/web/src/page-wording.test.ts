import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Labels of version 0.1 that have a standard word now, and phrases that no product uses. */
const BANNED = [
  />\s*Talk\s*<|"Talk"|Go to the talk/,
  /Waits for you|waits for you|Waiting for you|What waits/,
  />\s*Find\s*<|"Find"|Find anything/,
  /what is to be done/i,
  /Asks first|May edit files|Plans only|May do all|Ask nothing|Let it edit|Ask as usual/,
  /Agree and go on|Agree to the plan|Back to planning|Leave it\b/,
  /For the session|Allow for the session|“Always” would/,
  /A rewind undoes|a rewind does not/,
  /Effect unknown|is made again|made again by/,
  /The files were kept|None were kept|What was kept/,
  /What it came to|At work|Reading …/,
  /What would become|Where it counts|What becomes of/,
  /"Over"|"Of"|"At most"|Take the limit away/,
  /The agent's"|Xhigh|\(will be made\)/,
  /Who answers|who pays|"Payer"|Single calls/,
  /As the system|label: "This browser"/,
  /holds for good|has answered:|in their own words/,
  /rehearsed agent|prepared words/i,
  /Without words it only hears|It counts no more/,
  /\b(nobody|somebody|whoever|anybody|everybody)\b(?!")/i,
  /\b(mend|mended|goes on|go on|stands in|that is up|taken up|takes up|take up|takes it up)\b/,
  /(?:^|[">]\s*)(What|Who|Whoever) (?!should\b|is\b)[a-z]+(?: [a-z]+)* (is|was|are|does)\b[^?]*\./,
  /for good\b/i,
];

const SOURCE = new URL(".", import.meta.url);

const sources = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter(
  (path) => /\.tsx?$/.test(path) && !/\.test\.ts$|^browser\//.test(path),
);

/** Comments are for developers; a payer named "nobody" is a wire value. */
const shown = (code: string): string =>
  code
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/(^|[\s{])\/\/.*$/gm, "$1")
    .replaceAll(/"nobody"|nobody:/g, "");

test.each(BANNED.map((pattern) => [String(pattern), pattern] as const))(
  "no label of the page matches %s",
  (_, banned) => {
    const found = sources.filter((path) => banned.test(shown(readFileSync(new URL(path, SOURCE), "utf8"))));
    expect(found).toEqual([]);
  },
);
