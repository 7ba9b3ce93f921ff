export interface Dialect {
  name: "sqlite" | "postgres";
  /** Column type that compares bytewise on both engines, whatever the collation: ids sort by time. */
  id: string;
  int: string;
  bytes: string;
  /** Type of an auto-increment primary key. */
  number: string;
  /** Suffix after a table's closing bracket. */
  strict: string;
  /** Whether to create the tables that all tenants share. They are in the default tenant's schema. */
  isShared: boolean;
}
