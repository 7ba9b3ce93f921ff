import type { Dialect } from "@tandem/connectors";
import { attempt, MetricError } from "../metric-error.ts";
import type { CataloguedTable } from "../model/catalogued-table.ts";
import type { MeasureEntry, MetricEntry, MetricsFile } from "../model/metrics-file.ts";
import {
  type About,
  type ImportedEntity,
  type ImportedProject,
  type ImportQuestion,
  ImportReport,
  type Located,
} from "./imported-project.ts";
import type { ParseFragment, SqlFlavour } from "./parse-fragment.ts";
import type { Term, TermType } from "./sql-term.ts";

export const SECTIONS = ["roles", "dimensions", "segments", "measures", "metrics"] as const;
export type Section = (typeof SECTIONS)[number];

/** `measure amount` */
export const itemName = (section: Section, name: string): string => `${section.replace(/s$/, "")} ${name}`;

/** A file in which every section exists. */
export type DraftFile = Required<Pick<MetricsFile, "entity" | "table" | "grain" | Section>> &
  Pick<MetricsFile, "description" | "time">;

export interface DraftLink {
  readonly name: string;
  readonly to: DraftEntity;
  readonly columns: readonly string[];
  /** The name of the join in paths. */
  readonly role: string;
  /** Why nothing may use it. */
  readonly refused?: MetricError;
}

/** An entity whose table and key the catalogue knows. */
export interface DraftEntity {
  readonly source: ImportedEntity;
  readonly table: CataloguedTable;
  readonly file: DraftFile;
  readonly links: DraftLink[];
  /** Translated dimensions by their names in the project, also hidden ones. */
  readonly terms: Map<string, Term>;
  /** They decide whether a division drops fractions. */
  readonly measureTypes: Map<string, TermType>;
  /** Why dimensions and measures of the project were left out. */
  readonly refused: Map<string, MetricError>;
  /** `measures.amount` → where the project defines it. */
  readonly sources: Map<string, Located>;
}

export interface Catalogue {
  readonly dialect: Dialect;
  readonly tables: readonly CataloguedTable[];
}

/** Something depends on the answer to a question. */
export class Waiting extends MetricError {
  readonly question: OpenQuestion;

  constructor(question: OpenQuestion) {
    super("broken_definition", question.question, question.fix);
    this.question = question;
  }
}

export type OpenQuestion = Omit<ImportQuestion, "holds"> & { readonly holds: Set<string> };

/** The state of one import. */
export class Draft extends ImportReport {
  readonly project: ImportedProject;
  readonly catalogue: Catalogue;
  readonly parse: ParseFragment;
  readonly entities: DraftEntity[] = [];
  /** Entities of the project that have no file, by id. */
  readonly refused = new Map<string, MetricError>();
  readonly asked: OpenQuestion[] = [];

  constructor(project: ImportedProject, catalogue: Catalogue, parse: ParseFragment) {
    super();
    this.project = project;
    this.catalogue = catalogue;
    this.parse = parse;
    this.unmapped.push(...project.unmapped);
    this.notes.push(...project.notes);
  }

  get flavour(): SqlFlavour {
    return this.project.isStandardSql ? "standard" : this.catalogue.dialect;
  }

  ask({ path, line }: Located, item: string, question: string, fix?: string): Waiting {
    const open: OpenQuestion = { path, line, item, question, holds: new Set(), ...(fix && { fix }) };
    this.asked.push(open);
    return new Waiting(open);
  }

  /** Lists why a part is not imported: it waits for an answer, or has no counterpart. */
  refuse(at: Located, item: string, error: MetricError): void {
    if (error instanceof Waiting) {
      if (item !== error.question.item) error.question.holds.add(item);
    } else this.leaveOut(at, item, error.message, error.fix);
  }

  attempt<T>(at: Located, item: string, build: () => T): T | MetricError {
    const built = attempt(build);
    if (built instanceof MetricError) this.refuse(at, item, built);
    return built;
  }

  entity(id: string): DraftEntity {
    const found = this.entities.find(({ source }) => source.id === id);
    if (found) return found;
    throw this.refused.get(id) ?? new MetricError("broken_definition", `${id} is not part of the project.`);
  }
}

/** A name that definitions can have. Others are written in their letters, and the change is noted. */
export function definedName(draft: Draft, at: Located, given: string): string {
  const name = given
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, "_")
    .replaceAll(/^[^a-z]+|_+$/g, "");
  if (name === "" || name.length > 64) {
    throw new MetricError("unsupported", `The name ${JSON.stringify(given)} cannot be used.`, "Rename it.");
  }
  if (name !== given) draft.note(at, given, `It is called ${name} here.`);
  return name;
}

export interface DraftMetric {
  readonly name: string;
  /** The entity whose file defines it. */
  readonly entity: DraftEntity;
  readonly type: TermType;
  readonly entry: MetricEntry;
  /** The simple metric that a running total adds up. */
  readonly base: string;
}

/** The metrics drafted so far. */
export interface MetricSink {
  readonly draft: Draft;
  define(id: string): DraftMetric;
  sameMeasure(entity: DraftEntity, measure: MeasureEntry): DraftMetric | undefined;
  add(at: Located, name: string, entity: DraftEntity, entry: MetricEntry, about: About, type: TermType): DraftMetric;
}
