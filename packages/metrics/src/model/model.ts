import type { Dialect } from "@tandem/connectors";
import type { Expression } from "../expression/expression.ts";
import type { Aggregate } from "../sql/sql.ts";
import type { CataloguedJoin, CataloguedTable } from "./catalogued-table.ts";
import type { Granularity } from "../sql/granularity.ts";
import type { MetricsFile } from "./metrics-file.ts";

/** One step of a join between entities. */
export interface Role {
  /** Empty if several joins lead to the same entity and the file names none of them. */
  readonly name: string;
  /** Against the direction in which the join refers. */
  readonly isReverse: boolean;
  readonly from: string;
  readonly to: string;
  readonly columns: readonly string[];
  readonly toColumns: readonly string[];
  readonly when?: CataloguedJoin["when"] & { readonly side: "from" | "to" };
  /** Whether each row of `from` meets at most one row of `to`. */
  readonly isSafe: boolean;
}

export interface Dimension {
  readonly name: string;
  readonly expression: Expression;
  readonly time?: Granularity;
  readonly zone?: string;
  readonly label?: string;
  readonly description?: string;
  readonly aka: readonly string[];
}

export interface Measure {
  readonly name: string;
  readonly aggregate: Aggregate;
  /** Undefined: counts rows. */
  readonly expression?: Expression;
  readonly where: readonly Expression[];
  /** The dimension that `time` means. */
  readonly time?: string;
  readonly over?: { readonly time: "last" | "first" | "average"; readonly per: readonly Expression[] };
  readonly unit?: string;
}

export interface Entity {
  readonly name: string;
  readonly description?: string;
  readonly table: CataloguedTable;
  readonly grain: readonly string[];
  readonly roles: readonly Role[];
  /** Joins in the other direction: each row can meet many. Only filters follow them. */
  readonly reverse: readonly Role[];
  readonly dimensions: ReadonlyMap<string, Dimension>;
  readonly segments: ReadonlyMap<string, Expression>;
  readonly measures: ReadonlyMap<string, Measure>;
  readonly time?: string;
}

export interface Offset {
  readonly count: number;
  readonly unit: Granularity;
}

interface MetricBase {
  readonly name: string;
  readonly entity: string;
  readonly about: { readonly [key in "label" | "description" | "owner" | "page" | "unit"]?: string } & {
    readonly aka: readonly string[];
  };
}

export type Metric =
  | (MetricBase & { readonly kind: "simple"; readonly measure: string; readonly where: readonly Expression[] })
  | (MetricBase & { readonly kind: "ratio"; readonly numerator: string; readonly denominator: string })
  | (MetricBase & {
      readonly kind: "derived";
      readonly expression: Expression;
      readonly inputs: ReadonlyMap<string, MetricInput>;
    })
  | (MetricBase & {
      readonly kind: "cumulative";
      readonly metric: string;
      readonly to?: Granularity;
      readonly window?: Offset;
    });

interface MetricInput {
  readonly metric: string;
  readonly offset?: Offset;
}

/** A part of a definition that cannot be used, with the reason and the next step. */
export interface BrokenDefinition {
  readonly entity: string;
  /** The dimension, segment, measure or metric; undefined for the whole entity. */
  readonly name?: string;
  readonly message: string;
  readonly fix?: string;
}

export interface Model {
  readonly dialect: Dialect;
  readonly entities: ReadonlyMap<string, Entity>;
  readonly metrics: ReadonlyMap<string, Metric>;
  readonly broken: readonly BrokenDefinition[];
}

export interface ModelInput {
  readonly dialect: Dialect;
  readonly files: readonly MetricsFile[];
  readonly tables: readonly CataloguedTable[];
}
