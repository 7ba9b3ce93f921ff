import type { About } from "../imported-project.ts";
import { aboutOf } from "../project-reader.ts";
import type { SourceNode } from "../source-node.ts";

/** Label, description, and the owner, unit and synonyms that projects keep under `meta`. */
export function readAbout(node: SourceNode): About {
  const metas = [node.get("config").get("meta"), node.get("meta")];
  const first = (...keys: string[]): SourceNode | undefined =>
    metas.flatMap((meta) => keys.map((key) => meta.get(key))).find((value) => !value.isEmpty);
  const owner = first("owner");
  const label = node.textOf("label");
  return aboutOf({
    // dbt wants a label, so projects repeat the name.
    label: label === node.textOf("name") ? undefined : label,
    description: node.textOf("description"),
    owner: owner?.isMap ? (owner.textOf("name") ?? owner.textOf("email")) : owner?.text,
    unit: first("unit")?.text,
    page: first("page")?.text,
    aka: first("synonyms", "aka")?.texts,
  });
}
