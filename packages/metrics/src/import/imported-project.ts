import type { Aggregate } from "../sql/sql.ts";

/** A file of a foreign project. */
export interface SourceText {
  /** Relative to the project's folder. */
  readonly path: string;
  readonly text: string;
}

export type ImportFormat = "dbt" | "ossie" | "ktx";

/** A line of a file of the project. */
export interface Located {
  readonly path: string;
  readonly line: number;
}

export interface About {
  readonly label?: string;
  readonly description?: string;
  readonly owner?: string;
  readonly unit?: string;
  /** A wiki page. */
  readonly page?: string;
  readonly aka?: readonly string[];
}

/** A condition as the project writes it: SQL, or SQL with dbt's `{{ Dimension('…') }}`. */
export interface ImportedFilter extends Located {
  readonly sql: string;
}

export interface ImportedDimension extends Located, About {
  readonly name: string;
  readonly sql: string;
  /** Its finest period, if it is a time. `stored`: whatever the column holds. */
  readonly time?: string;
  /** Only other expressions of the project use it. */
  readonly isHidden?: boolean;
}

/** A join that the project states. The catalogue decides whether it is one. */
export interface ImportedLink extends Located {
  readonly name: string;
  readonly columns: readonly string[];
  /** The `id` of the other entity. */
  readonly to: string;
  readonly toColumns: readonly string[];
  /** Why it cannot be used. */
  readonly refused?: string;
}

export interface ImportedMeasure extends Located {
  readonly name: string;
  readonly aggregate: Aggregate;
  /** Undefined: counts rows. */
  readonly sql?: string;
  /** Sums 1 for each row in which `sql` is true, and 0 for the others. */
  readonly isSumOfBoolean?: boolean;
  readonly time?: string;
  readonly over?: { readonly time: "first" | "last"; readonly per: readonly string[] };
  readonly unit?: string;
  readonly description?: string;
}

/** A semantic model of dbt, a dataset of Ossie or a source of KTX. */
export interface ImportedEntity extends Located {
  /** Its name in the project. */
  readonly id: string;
  /** The entity's name that is wanted for it. */
  readonly name: string;
  /** Other names by which SQL and filters mean its own rows. */
  readonly ownNames: readonly string[];
  /** Columns by the names of the entities that they identify. */
  readonly keys: readonly { readonly name: string; readonly sql: string }[];
  readonly relation: readonly string[];
  readonly description?: string;
  readonly grain?: readonly string[];
  readonly time?: string;
  readonly dimensions: readonly ImportedDimension[];
  readonly segments: readonly (ImportedFilter & { readonly name: string })[];
  readonly links: readonly ImportedLink[];
  readonly measures: readonly ImportedMeasure[];
}

export interface ImportedInput {
  readonly metric: string;
  readonly filters: readonly ImportedFilter[];
  readonly offset?: string;
}

export type ImportedFormula =
  | {
      readonly kind: "simple";
      readonly entity: string;
      readonly measure: string;
      readonly filters: readonly ImportedFilter[];
      /** The value if there are no rows. */
      readonly missing?: string;
    }
  | { readonly kind: "ratio"; readonly numerator: ImportedInput; readonly denominator: ImportedInput }
  | { readonly kind: "derived"; readonly sql: string; readonly inputs: ReadonlyMap<string, ImportedInput> }
  | { readonly kind: "cumulative"; readonly input: ImportedInput; readonly to?: string; readonly window?: string }
  /** SQL with aggregates, of one entity or of those that it names. */
  | {
      readonly kind: "aggregates";
      readonly entity?: string;
      readonly sql: string;
      readonly filters: readonly ImportedFilter[];
      readonly segments: readonly string[];
    };

export interface ImportedMetric extends Located {
  /** Unique within the project: `orders.revenue` where names belong to sources. */
  readonly id: string;
  readonly name: string;
  readonly about: About;
  /** Conditions of all that it is computed from. */
  readonly filters: readonly ImportedFilter[];
  readonly formula: ImportedFormula;
}

export interface LeftOut extends Located {
  /** `metric revenue`, `filter of revenue`. */
  readonly item: string;
  readonly reason: string;
  readonly fix?: string;
}

/** A question that a person answers in the project, in the catalogue or by an option of the next import. */
export interface ImportQuestion extends Located {
  readonly item: string;
  readonly question: string;
  /** Definitions that are not imported until then. */
  readonly holds: readonly string[];
  readonly fix?: string;
}

/** A definition was imported, and a person should know this about it. */
export interface ImportNote extends Located {
  readonly item: string;
  readonly note: string;
}

/** What an import leaves out and what it notes. */
export class ImportReport {
  readonly unmapped: LeftOut[] = [];
  readonly notes: ImportNote[] = [];

  leaveOut({ path, line }: Located, item: string, reason: string, fix?: string): void {
    this.unmapped.push({ path, line, item, reason, ...(fix && { fix }) });
  }

  note({ path, line }: Located, item: string, note: string): void {
    this.notes.push({ path, line, item, note });
  }
}

export interface ImportedProject {
  readonly format: ImportFormat;
  /** SQL names computed fields, not only columns. */
  readonly hasFields: boolean;
  /** SQL is standard SQL, not the connection's. */
  readonly isStandardSql: boolean;
  readonly entities: readonly ImportedEntity[];
  readonly metrics: readonly ImportedMetric[];
  readonly unmapped: readonly LeftOut[];
  readonly notes: readonly ImportNote[];
}
