import type { DbtJoin } from "./dbt-node.ts";
import { referenceIn } from "../sql/sql-tables.ts";

export interface DbtTests {
  tests: string[];
  joins: DbtJoin[];
}

/** Tests in files: `- unique`, or `- relationships: {to: ref('customers'), field: id}`. */
export function readDbtTests(list: unknown, column: string | undefined): DbtTests {
  const found: DbtTests = { tests: [], joins: [] };
  for (const entry of Array.isArray(list) ? list : []) {
    if (typeof entry === "string") found.tests.push(entry);
    else if (isRecord(entry)) {
      const named = typeof entry["test_name"] === "string" ? [[entry["test_name"], entry]] : Object.entries(entry);
      for (const [name, settings] of named) if (typeof name === "string") addDbtTest(found, name, settings, column);
    }
  }
  return found;
}

/** A test by name and arguments, which manifests and files share. */
export function addDbtTest(found: DbtTests, name: string, settings: unknown, column: string | undefined): void {
  const outer = isRecord(settings) ? settings : {};
  // Since dbt 1.10 the arguments are under their own key.
  const args = isRecord(outer["arguments"]) ? outer["arguments"] : outer;
  const to = typeof args["to"] === "string" ? referenceIn(args["to"]) : undefined;
  if (name === "relationships" && to && typeof args["field"] === "string" && column) {
    found.joins.push({ column, to, toColumn: args["field"] });
    return;
  }
  if (name === "accepted_values" && Array.isArray(args["values"])) {
    found.tests.push(`one of ${args["values"].map(String).slice(0, 30).join(", ")}`);
    return;
  }
  const combination = args["combination_of_columns"];
  found.tests.push(Array.isArray(combination) ? `unique (${combination.map(String).join(", ")})` : name);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
