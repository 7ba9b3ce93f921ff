/** A dbt node, from the manifest or from files. */
export interface DbtNode {
  kind: "model" | "seed" | "snapshot" | "source" | "exposure" | "metric";
  name: string;
  /** Path of the item: a model's file, `sources/shop.orders`, `exposures/weekly`. */
  path: string;
  /** The table in the database, if known. */
  relation?: string;
  description: string;
  columns: readonly DbtColumn[];
  /** Tests of the whole node: `unique (order_id, line)`. */
  tests: readonly string[];
  joins: readonly DbtJoin[];
  dependsOn: readonly string[];
  tags: readonly string[];
  /** Other facts: owner and URL of an exposure, expression of a metric. */
  facts: Readonly<Record<string, string>>;
  sql?: string;
}

export interface DbtColumn {
  name: string;
  type: string;
  description: string;
  tests: readonly string[];
}

/** A `relationships` test: every value of the column exists in the target. */
export interface DbtJoin {
  column: string;
  to: string;
  toColumn: string;
}
