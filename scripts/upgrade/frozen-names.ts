import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Names } from "./current-names.ts";

export const FROZEN_FILE = join(import.meta.dirname, "frozen-names.txt");

/** Sections of names without a registry in the code. */
const QUOTED = /^(files|record|error|stored|tool)/;

/** The committed list: a section is `[its name]` and one name per line. */
export function frozenNames(): Names {
  const sections = new Map<string, Set<string>>();
  let section: Set<string> | undefined;
  for (const line of readFileSync(FROZEN_FILE, "utf8").split("\n")) {
    const [, name] = /^\[(.+)\]$/.exec(line) ?? [];
    if (name !== undefined) sections.set(name, (section = new Set()));
    else if (line !== "" && !line.startsWith("#")) section?.add(line);
  }
  return sections;
}

export const quotedNames = (frozen: Names): Names => new Map([...frozen].filter(([section]) => QUOTED.test(section)));
