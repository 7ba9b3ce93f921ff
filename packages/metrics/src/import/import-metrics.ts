import { parse } from "yaml";
import { type MetricsFile, metricsFile } from "../model/metrics-file.ts";
import { type Catalogue, Draft, type DraftEntity, itemName, type Section } from "./draft-file.ts";
import { draftDefinitions } from "./draft-definitions.ts";
import { MetricDrafts } from "./metric-drafts.ts";
import { gateDraft, removeDefinition } from "./gate-draft.ts";
import type {
  ImportedProject,
  ImportFormat,
  ImportNote,
  ImportQuestion,
  LeftOut,
  Located,
  SourceText,
} from "./imported-project.ts";
import { type ExistingFile, type MergedFile, mergeFile, vanished } from "./merge-file.ts";
import { loadFragmentParser } from "./parse-fragment.ts";
import { placeEntities } from "./place-entities.ts";
import { removeConflicts } from "./remove-conflicts.ts";
import { readDbt } from "./dbt/read-dbt.ts";
import { readKtx } from "./read-ktx.ts";
import { readOssie } from "./read-ossie.ts";

export interface ImportInput extends Catalogue {
  readonly format: ImportFormat;
  readonly texts: readonly SourceText[];
  /** The connection's metrics files. */
  readonly existing?: readonly ExistingFile[];
  /** Catalogued tables (`schema.table`) by the names that the project uses. */
  readonly tableNames?: ReadonlyMap<string, string>;
  /** Metrics that the database refuses, with its reason. */
  readonly refused?: ReadonlyMap<string, string>;
}

/** A file of the context as the import wants it. */
export interface ImportedFile {
  readonly entity: string;
  /** Where the project defines the entity. */
  readonly source: Located;
  readonly file: MetricsFile;
  /** Undefined if it does not exist yet. */
  readonly existing?: ExistingFile;
  readonly text: string;
  /** Lines of new and changed definitions (`metrics.revenue`), and where the project defines them. */
  readonly regions: readonly (MergedFile["regions"][number] & { readonly source: Located })[];
}

export interface ImportResult {
  readonly files: readonly ImportedFile[];
  /** Names of metrics that the context has, or would have, as the project defines them. */
  readonly metrics: readonly string[];
  readonly asked: readonly ImportQuestion[];
  readonly unmapped: readonly LeftOut[];
  readonly notes: readonly ImportNote[];
}

const READERS: Record<ImportFormat, (texts: readonly SourceText[]) => ImportedProject> = {
  dbt: readDbt,
  ossie: readOssie,
  ktx: readKtx,
};

/**
 * Translates the definitions of a foreign project. Each part is imported exactly, or listed with the reason why not. The
 * catalogue decides on keys and joins: an unverified one becomes a question.
 */
export async function importMetrics(input: ImportInput): Promise<ImportResult> {
  const { format, texts, existing = [], tableNames = new Map<string, string>(), dialect, tables } = input;
  const { refused = new Map<string, string>() } = input;
  const project = READERS[format](texts);
  const draft = new Draft(project, { dialect, tables }, await loadFragmentParser());
  const files = existing.flatMap((file) => {
    const parsed = metricsFile.safeParse(parse(file.text) as unknown);
    return parsed.success ? [{ ...file, data: parsed.data }] : [];
  });
  placeEntities(draft, { existing: files.map(({ data }) => data), tableNames });
  draftDefinitions(draft);
  new MetricDrafts(draft).all();
  const sources = draft.entities.flatMap((entity) => [...entity.sources.values()]);
  const origin = { format, paths: new Set([...texts, ...sources].map(({ path }) => path)) };
  const fileOf = ({ file }: DraftEntity) => files.find(({ data }) => data.table === file.table);
  const merge = (entity: DraftEntity): MergedFile => mergeFile(fileOf(entity), entity, origin);
  removeConflicts(
    draft,
    files.map(({ data }) => data),
    merge,
  );
  for (const entity of draft.entities) {
    for (const [name, reason] of refused) {
      if (name in entity.file.metrics) removeDefinition(draft, entity, "metrics", name, reason);
    }
  }
  gateDraft(draft, () => {
    const merged = draft.entities.map((entity) => metricsFile.parse(parse(merge(entity).text) as unknown));
    return [
      ...files.map(({ data }) => data).filter((data) => !merged.some(({ entity }) => entity === data.entity)),
      ...merged,
    ];
  });
  const imported = draft.entities.map((entity) => finish(draft, entity, fileOf(entity), merge(entity)));
  askAboutVanished(draft, files, origin);
  noteMissingValues(draft);
  if (dialect === "mysql" && imported.length > 0) {
    draft.note(project.entities[0]!, "text", "Texts are compared exactly here; MySQL's collation may ignore case.");
  }
  return {
    files: imported
      .filter(({ regions, existing: known }) => regions.length > 0 || !known)
      .toSorted((a, b) => (a.entity < b.entity ? -1 : 1)),
    metrics: draft.entities.flatMap(({ file }) => Object.keys(file.metrics)).toSorted(),
    asked: draft.asked.map(({ holds, ...question }) => ({ ...question, holds: [...holds] })),
    unmapped: draft.unmapped,
    notes: draft.notes,
  };
}

function finish(
  draft: Draft,
  entity: DraftEntity,
  existing: (ExistingFile & { data: MetricsFile }) | undefined,
  { text, regions, kept }: MergedFile,
): ImportedFile {
  const { file, sources, source } = entity;
  for (const { section, name } of kept) {
    delete file[section][name];
    draft.leaveOut(
      sources.get(`${section}.${name}`) ?? source,
      itemName(section, name),
      "A person has edited it in the context. That definition is kept.",
      `Compare it with ${existing?.path ?? "the file"}.`,
    );
  }
  return {
    entity: file.entity,
    source: { path: source.path, line: source.line },
    file: metricsFile.parse(parse(text) as unknown),
    ...(existing && { existing }),
    text,
    regions: regions.map((region) => ({ ...region, source: sources.get(region.part) ?? source })),
  };
}

function askAboutVanished(
  draft: Draft,
  files: readonly (ExistingFile & { data: MetricsFile })[],
  origin: { format: ImportFormat; paths: ReadonlySet<string> },
): void {
  for (const file of files) {
    const names = new Set([
      ...draft.project.metrics.flatMap(({ name, id }) => [name, id]),
      ...draft.project.entities.flatMap((entity) =>
        [...entity.dimensions, ...entity.measures, ...entity.segments, ...entity.links].map(({ name }) => name),
      ),
    ]);
    const drafted = draft.entities.find((entity) => entity.file.entity === file.data.entity);
    const isKnown = (section: Section, name: string): boolean =>
      names.has(name) || names.has(name.split("__")[0]!) || (drafted !== undefined && name in drafted.file[section]);
    for (const { section, name, source } of vanished(file, origin, isKnown)) {
      draft.ask(
        { path: source, line: 1 },
        itemName(section, name),
        `${name} of ${file.path} was imported from ${source}, which no longer has it. Remove it?`,
        `Delete it in ${file.path}.`,
      );
    }
  }
}

function noteMissingValues(draft: Draft): void {
  if (draft.project.format === "ktx") return;
  const computed = draft.entities.flatMap((entity) =>
    Object.entries(entity.file.metrics).flatMap(([name, entry]) =>
      "ratio" in entry || "derived" in entry ? [{ name, at: entity.sources.get(`metrics.${name}`) }] : [],
    ),
  );
  const [first] = computed;
  if (!first?.at) return;
  draft.note(
    first.at,
    computed.map(({ name }) => name).join(", "),
    "In a group in which one input has no rows, its sum counts as zero here. The project's SQL gives NULL there.",
  );
}
