import type { World, Scenario } from "../../../testing/scenarios/scenario.ts";
import type { ImportFormat, SourceText } from "../../imported-project.ts";

/** A project of another product on the tables of a world, with queries and the SQL that a person would write. */
export interface Project {
  readonly name: string;
  readonly format: ImportFormat;
  readonly world: World;
  readonly texts: readonly SourceText[];
  /** Items that have no counterpart. */
  readonly unmapped: readonly string[];
  readonly asked?: readonly string[];
  readonly scenarios: readonly Scenario[];
}
