import type { ImportFormat, SourceText } from "./imported-project.ts";

/** The format of a project by its files; undefined if it is none that can be imported. */
export function detectFormat(texts: readonly SourceText[]): ImportFormat | undefined {
  const has = (pattern: RegExp): boolean => texts.some(({ path }) => pattern.test(path));
  const says = (pattern: RegExp): boolean => texts.some(({ text }) => pattern.test(text));
  if (has(/(^|\/)semantic_manifest\.json$/) || has(/(^|\/)dbt_project\.ya?ml$/)) return "dbt";
  if (has(/(^|\/)ktx\.yaml$/) || has(/(^|\/)semantic-layer\//)) return "ktx";
  if (says(/^["{\s-]*"?datasets"?\s*:/m) && says(/^["{\s-]*"?(semantic_model|version)"?\s*:/m)) return "ossie";
  if (says(/^(semantic_models|metrics)\s*:/m) || says(/^\s+semantic_model\s*:/m)) return "dbt";
  return says(/^grain\s*:/m) || says(/^measures\s*:/m) ? "ktx" : undefined;
}
