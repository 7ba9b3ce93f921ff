import { detectFormat, type ImportFormat, type SourceText } from "@tandem/metrics";
import { TandemError } from "@tandem/protocol";
import { basename } from "node:path";
import { walkFiles } from "../sources/walk-files.ts";

/** A manifest of a large project has some megabytes. */
const MAX_BYTES = 50_000_000;

export interface ForeignProject {
  readonly name: string;
  readonly format: ImportFormat;
  readonly texts: readonly SourceText[];
  /** Files that could not be read. */
  readonly skipped: readonly { path: string; message: string }[];
}

/** Reads the definitions of a project of dbt, Ossie or KTX from a folder or a file. */
export async function readProject(
  root: string,
  { format, connection, signal }: { format?: ImportFormat; connection: string; signal: AbortSignal },
): Promise<ForeignProject> {
  const texts: SourceText[] = [];
  const skipped: { path: string; message: string }[] = [];
  const rules = { maxBytes: MAX_BYTES, reads: (path: string) => isDefinition(path), exclude: ["**/dbt_packages/**"] };
  for await (const entry of walkFiles(root, rules, signal)) {
    if (entry.type === "skipped") skipped.push({ path: entry.path, message: entry.error.message });
    if (entry.type !== "item") continue;
    texts.push({ path: entry.item.path, text: new TextDecoder().decode(await entry.item.read()) });
  }
  const found = format ?? detectFormat(texts);
  if (!found) {
    throw new TandemError("not_supported", `${root} is not a project of dbt, Ossie or KTX.`, {
      fix: "Point at the folder with dbt_project.yml, ktx.yaml or the model's file, or name the format with --from.",
    });
  }
  return {
    name: basename(root),
    format: found,
    skipped,
    texts: found === "ktx" ? sourcesOf(texts, connection) : texts,
  };
}

/** YAML, and of JSON only what can be a model: a project's `target/` is full of other files. */
function isDefinition(path: string): boolean {
  if (/(^|\/)semantic_manifest\.json$/.test(path)) return true;
  if (/(^|\/)(target|dbt_packages|raw-sources|wiki)\//.test(path)) return false;
  return /\.(ya?ml|json)$/.test(path) && !/(^|\/)package(-lock)?\.json$/.test(path);
}

/** The sources of one database. KTX keeps them in a folder for each. */
function sourcesOf(texts: readonly SourceText[], connection: string): SourceText[] {
  const folderOf = (path: string): string | undefined => /(?:^|\/)semantic-layer\/([^/]+)\//.exec(path)?.[1];
  const folders = new Set(texts.flatMap(({ path }) => folderOf(path) ?? []));
  const rest = texts.filter(({ path }) => folderOf(path) !== undefined || path.endsWith("ktx.yaml"));
  if (folders.size === 0) return [...texts];
  const wanted = folders.size === 1 ? [...folders][0] : [...folders].find((folder) => folder === connection);
  if (wanted === undefined) {
    throw new TandemError(
      "usage",
      `The project has sources of ${[...folders].join(", ")}, and none of ${connection}.`,
      {
        fix: "Point at the folder of one of them: semantic-layer/<connection>.",
      },
    );
  }
  return rest.filter(({ path }) => path.endsWith("ktx.yaml") || folderOf(path) === wanted);
}
