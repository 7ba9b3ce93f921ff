import { expect, test } from "vitest";
import { currentNames, quotedWords } from "./current-names.ts";
import { frozenNames, quotedNames } from "./frozen-names.ts";

const HINT = "Add an alias read for one minor version, a CHANGELOG line and a doctor hint.";

test("names that are stored or sent are still there", async () => {
  const frozen = frozenNames();
  const current = await currentNames(quotedNames(frozen));
  expect([...frozen.keys()].toSorted()).toEqual([...current.keys()].toSorted());
  const gone = [...frozen].flatMap(([section, names]) =>
    [...names].filter((name) => !current.get(section)!.has(name)).map((name) => `${name} (${section})`),
  );
  expect(gone, `${gone.length} frozen names are gone. ${HINT} See scripts/upgrade/README.md.`).toEqual([]);
});

test("a name of a file, of a comment or inside a longer string does not count", () => {
  const source = `import { told } from "./told";
    export { heard } from "heard";
    const later = await import("lazy");
    // The "remark", and the kind \`quoted\`.
    const path = "some/part";
    const kinds = ["real", \`\${name}.tail\`];`;
  expect([...quotedWords(source)].filter((word) => word !== "")).toEqual(["some/part", "real", ".tail"]);
});

test("a made-up name is reported as missing", async () => {
  const current = await currentNames(new Map([["record kinds and spaces", new Set(["approval", "made_up_kind"])]]));
  expect([...current.get("record kinds and spaces")!]).toEqual(["approval"]);
});
