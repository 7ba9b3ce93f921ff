/** Something that a dbt project describes, whether its manifest or its files say so. */
export interface DbtNode {
  kind: "model" | "seed" | "snapshot" | "source" | "exposure" | "metric";
  name: string;
  /** How the item is known: the file of a model, `sources/shop.orders`, `exposures/weekly`. */
  path: string;
  /** The table in the database, if the project knows it. */
  relation?: string;
  description: string;
  columns: readonly DbtColumn[];
  /** Tests of the whole: `unique (order_id, line)`. */
  tests: readonly string[];
  joins: readonly DbtJoin[];
  dependsOn: readonly string[];
  tags: readonly string[];
  /** Other things worth a line: owner and url of an exposure, expression of a metric. */
  facts: Readonly<Record<string, string>>;
  sql?: string;
}

export interface DbtColumn {
  name: string;
  type: string;
  description: string;
  tests: readonly string[];
}

/** A `relationships` test: every value of the column is found over there. */
export interface DbtJoin {
  column: string;
  to: string;
  toColumn: string;
}
