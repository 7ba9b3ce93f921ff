import { readFileSync, writeFileSync } from "node:fs";
import { currentNames } from "./upgrade/current-names.ts";
import { FROZEN_FILE, frozenNames, quotedNames } from "./upgrade/frozen-names.ts";

// Run before a release: adds the names that are new since the last one. Removes none.

const frozen = frozenNames();
const current = await currentNames(quotedNames(frozen));
const [head = ""] = readFileSync(FROZEN_FILE, "utf8").split(/^(?=\[)/m, 1);
const sections = [...current].map(([section, names]) => {
  const all = new Set([...(frozen.get(section) ?? []), ...names]);
  return `[${section}]\n${[...all].toSorted().join("\n")}\n`;
});
writeFileSync(FROZEN_FILE, `${head}${sections.join("\n")}`);
