import { expect, test } from "vitest";
import { currentNames } from "./current-names.ts";
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
