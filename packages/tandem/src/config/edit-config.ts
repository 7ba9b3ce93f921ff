import { editYaml } from "@tandem/workspace";
import { type Document, isMap, isSeq } from "yaml";
import type { ConfigValue } from "./parse/config-value.ts";

/** Sets a value. `value: undefined` removes the key. */
export interface Edit {
  path: string;
  value: ConfigValue | undefined;
}

export function editConfig(source: string, edits: readonly Edit[]): string {
  return editYaml(source, (document) => {
    for (const edit of edits) apply(document, edit);
  });
}

function apply(document: Document, { path, value }: Edit): void {
  const names = path.split(".");
  const parent = names.slice(0, -1);
  const current: unknown = document.getIn(names);
  if (JSON.stringify(current) === JSON.stringify(value)) return;
  if (value === undefined) {
    document.deleteIn(names);
    // Keep the key of an empty section, so that the commented-out settings below it stay.
    const section: unknown = document.getIn(parent);
    if (parent.length > 0 && isMap(section) && section.items.length === 0) document.setIn(parent, null);
    return;
  }
  // An empty section parses as null, and `setIn` cannot add keys to null.
  for (let depth = 0; depth < names.length; depth++) {
    const section = names.slice(0, depth);
    if (isMap(depth === 0 ? document.contents : document.getIn(section, true))) continue;
    if (depth === 0) document.contents = document.createNode({});
    else document.setIn(section, document.createNode({}));
  }
  const node = document.createNode(value, { flow: true });
  // Write lists of objects one entry per line.
  if (isSeq(node) && Array.isArray(value) && typeof value[0] === "object") node.flow = false;
  document.setIn(names, node);
}
