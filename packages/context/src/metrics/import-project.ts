import type { Connection } from "@tandem/connectors";
import {
  type ImportedFile,
  importMetrics,
  type ImportFormat,
  type ImportResult,
  type SourceText,
} from "@tandem/metrics";
import { RequestError } from "@tandem/protocol";
import { createHash } from "node:crypto";
import type { Evidence } from "../evidence.ts";
import type { ContextFolder } from "../folder/context-folder.ts";
import type { Draft, Support } from "../draft.ts";
import type { Proposals } from "../proposals/proposals.ts";
import { METRICS_PREFIX } from "../metric-definitions/metrics-path.ts";
import { explainMetrics } from "../metric-definitions/check-definitions.ts";
import { type MetricsReader, problemOf } from "../metric-definitions/metrics-reader.ts";
import { type ForeignProject, readProject } from "./read-project.ts";

export interface ImportProjectInput {
  /** A folder or a file. */
  root: string;
  connection: string;
  format?: ImportFormat;
  /** Catalogued tables by the names that the project uses. */
  tableNames: ReadonlyMap<string, string>;
  dryRun: boolean;
  signal: AbortSignal;
}

export type ProjectImport = Pick<ImportResult, "metrics" | "asked" | "unmapped" | "notes"> & {
  readonly format: ImportFormat;
  readonly connection: string;
  readonly skipped: ForeignProject["skipped"];
  readonly files: readonly { readonly path: string; readonly definitions: number; readonly isNew: boolean }[];
  /** Undefined if there is nothing to propose, or nothing should be. */
  readonly proposal?: string;
};

interface ImportParts {
  folder: ContextFolder;
  reader: MetricsReader;
  proposals: Proposals;
  open: (connection: string) => Promise<Connection>;
}

/** Translates the definitions of a project, and proposes what is new or changed, with file and line as evidence. */
export async function importProject(
  { folder, reader, proposals, open }: ImportParts,
  { root, connection, format, tableNames, dryRun, signal }: ImportProjectInput,
): Promise<ProjectImport> {
  const connected = await reader.read(connection);
  if (!connected) {
    throw new RequestError("not_found", `There is no connection ${connection}.`, {
      fix: "Name one with --connection: tandem connections list",
    });
  }
  const tables = await reader.tables(connection);
  if (tables.length === 0) {
    throw new RequestError("not_found", `The catalogue has no tables of ${connection}.`, {
      fix: `Scan it first: tandem context scan ${connection}`,
    });
  }
  const project = await readProject(root, { connection, signal, ...(format && { format }) });
  const { files: known, model } = connected;
  const hand = await folder.handLines(known.map(({ path }) => path));
  const unreadable = known.find(({ read }) => !read.success);
  if (unreadable) {
    throw new RequestError("invalid_request", `${unreadable.path} cannot be read: ${problemOf(unreadable)}`, {
      fix: "Correct the file first, or the import could define its metrics again.",
    });
  }
  const translate = async (refused: ReadonlyMap<string, string>) => {
    const result = await importMetrics({
      format: project.format,
      texts: project.texts,
      dialect: model.dialect,
      tables,
      tableNames,
      refused,
      existing: known.map(({ path, text }) => ({ path, text, handLines: hand.get(path) ?? new Set() })),
    });
    const paths = new Set(known.map(({ path }) => path));
    return { result, drafts: result.files.map((file) => draftOf(file, project, connection, paths)) };
  };
  const first = await translate(new Map());
  const refused = await refusedByDatabase(reader, connection, first.drafts, open, signal);
  const { result, drafts } = refused.size === 0 ? first : await translate(refused);
  const { metrics, asked, unmapped, notes } = result;
  const proposal =
    dryRun || drafts.length === 0
      ? undefined
      : await proposals.propose({
          job: null,
          title: `Metrics of ${project.name} (${project.format})`,
          summary: `Metrics: ${metrics.length}. Questions: ${asked.length}. Parts left out: ${unmapped.length}.`,
          drafts,
          includeRejected: true,
        });
  return {
    format: project.format,
    connection,
    skipped: project.skipped,
    files: drafts.map(({ path, before }, at) => ({
      path,
      definitions: result.files[at]!.regions.length,
      isNew: before === null,
    })),
    metrics,
    asked,
    unmapped,
    notes,
    ...(proposal && { proposal: proposal.id }),
  };
}

/** Metrics that the database cannot plan, with its reason. None if it cannot be reached. */
async function refusedByDatabase(
  reader: MetricsReader,
  connection: string,
  drafts: readonly Draft[],
  open: ImportParts["open"],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map(drafts.map(({ path, after }) => [path, after]));
  const after = await reader.readWithAll(connection, texts);
  if (!after || drafts.length === 0) return new Map();
  const { problems } = await explainMetrics(after, ({ file }) => texts.has(file.path), open, signal);
  return new Map(problems.flatMap(({ name, message }) => (name === undefined ? [] : [[name, message] as const])));
}

function draftOf(file: ImportedFile, project: ForeignProject, connection: string, taken: ReadonlySet<string>): Draft {
  const own = `${METRICS_PREFIX}${connection}/${file.entity}.yaml`;
  const support = file.regions.map(({ from, to, source }): Support => ({
    from,
    to,
    aspect: "metric",
    evidence: [evidenceOf(source, project)],
  }));
  // The other new lines are the entity, its table and the names of sections.
  const whole: Support = {
    from: 1,
    to: Infinity,
    aspect: "metric",
    evidence: [evidenceOf(file.source, project)],
  };
  return {
    // A file can have another name than its entity.
    path: file.existing?.path ?? (taken.has(own) ? own.replace(".yaml", "_imported.yaml") : own),
    before: file.existing?.text ?? null,
    after: file.text,
    support: [...support, ...gaps(support, whole, file.text.split("\n").length)],
    removal: [whole],
  };
}

/** The lines that no region covers. */
function gaps(regions: readonly Support[], whole: Support, last: number): Support[] {
  const found: Support[] = [];
  let next = 1;
  for (const { from, to } of regions.toSorted((a, b) => a.from - b.from)) {
    if (from > next) found.push({ ...whole, from: next, to: from - 1 });
    next = to + 1;
  }
  return next > last ? found : [...found, { ...whole, from: next, to: last }];
}

function evidenceOf({ path, line }: { path: string; line: number }, { name, format, texts }: ForeignProject): Evidence {
  // A manifest cites files that were not read themselves.
  const text: SourceText | undefined = texts.find((each) => each.path === path);
  const quote = text?.text.split("\n")[line - 1]?.trim().slice(0, 200);
  return {
    type: "source",
    source: `${format}:${name}`,
    path,
    sha256: createHash("sha256")
      .update((text ?? texts[0]!).text)
      .digest("hex"),
    citation: `${path}:${line}`,
    ...(quote && { quote }),
  };
}
